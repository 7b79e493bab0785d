package sqlite

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Bounds of the queue.
const (
	maxBatch = 128                    // writes that share one transaction
	maxRest  = 100 * time.Microsecond // for others to come, before the leader goes on with a smaller batch
	maxYield = 32                     // times the leader lets others run first, before it sleeps
	maxSkip  = 63                     // rests that are left out once they were in vain
)

// write is one caller's part of a transaction, or a job that needs the
// connection outside of one.
type write struct {
	do  func(*tx) error
	job func() error // instead of do
	err error

	leads bool      // guarded by queue.mu: this caller serves the queue
	told  chan bool // of length 1: true says that it is done, false that it leads now
}

// queue lines up those who write. There is no goroutine of its own: whoever
// comes first leads, serves itself and all that came while it waited for the
// disk in one transaction, and hands the lead to the next. So a lone writer
// waits for nobody, and many share their syncs.
type queue struct {
	// serve does the writes of a batch, and those that more returns until that
	// returns none; it sets their errors.
	serve  func(batch []*write, more func() []*write)
	places chan struct{} // taken by who waits, which bounds how many do

	mu      sync.Mutex // guards all below
	waiting []*write
	led     bool
	expect  int           // how many write at once, as of the last batch
	came    chan struct{} // of a leader who rests: closed when somebody comes
	vain    int           // grows with each rest in vain
	skip    int           // rests to be left out
}

// batch is what a leader serves in one transaction.
type batch struct {
	writes []*write
	rest   *time.Timer // of who waits for others to come; nil before that
	tired  bool        // nobody is waited for any more
}

func newQueue(places int, serve func(batch []*write, more func() []*write)) *queue {
	return &queue{serve: serve, places: make(chan struct{}, places)}
}

// submit has r served and returns its error. Until a leader takes it, ctx can
// withdraw it; from then on it cannot.
func (q *queue) submit(ctx context.Context, r *write) error {
	select {
	case q.places <- struct{}{}:
		defer func() { <-q.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	q.mu.Lock()
	q.join(r)
	if q.led {
		r.told = make(chan bool, 1)
		q.mu.Unlock()
		return q.wait(ctx, r)
	}
	q.led, r.leads = true, true
	q.mu.Unlock()
	q.lead()
	return r.err
}

// wait returns when r was served, by this caller itself if it is told to lead.
func (q *queue) wait(ctx context.Context, r *write) error {
	select {
	case done := <-r.told:
		if !done {
			q.lead()
		}
		return r.err
	case <-ctx.Done():
	}
	if q.withdraw(r) {
		return ctx.Err()
	}
	if done := <-r.told; !done {
		q.lead()
	}
	return r.err
}

// withdraw takes r out of the line, unless a leader has it or it leads.
func (q *queue) withdraw(r *write) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == r && !r.leads {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// lead serves one batch, of which the leader's own write is the first, tells
// the others, and hands the lead on.
func (q *queue) lead() {
	b := &batch{}
	q.mu.Lock()
	first := q.take(b)
	q.mu.Unlock()
	q.serve(first, func() []*write { return q.more(b) })
	if b.rest != nil {
		b.rest.Stop()
	}
	q.mu.Lock()
	q.expect = len(b.writes) + len(q.waiting)
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].leads = true
		q.waiting[0].told <- false
	}
	q.mu.Unlock()
	for _, r := range b.writes {
		if !r.leads {
			r.told <- true
		}
	}
}

// take moves who waits into b, as many as it may hold; q.mu is held.
func (q *queue) take(b *batch) []*write {
	n := min(len(q.waiting), maxBatch-len(b.writes))
	taken := q.waiting[:n:n]
	q.waiting = append([]*write(nil), q.waiting[n:]...)
	b.writes = append(b.writes, taken...)
	return taken
}

// more takes who came while b was served. After a batch of several, those that
// it released come back within microseconds, one by one, and each is served
// while the next is on its way: or the batches of eight callers would stay at
// five and three.
func (q *queue) more(b *batch) []*write {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 && len(b.writes) < min(q.expect, maxBatch) {
		q.await(b)
	}
	if q.expect > 1 && len(b.writes)+len(q.waiting) >= q.expect { // they do come back
		q.vain, q.skip = 0, 0
	}
	return q.take(b)
}

// await waits until somebody comes, for one batch no longer than maxRest in
// all, and after that was in vain less and less often: callers that do other
// things in between are not worth it. q.mu is held before and after.
func (q *queue) await(b *batch) {
	switch {
	case b.tired:
		return
	case b.rest == nil && q.skip > 0:
		q.skip--
		b.tired = true
		return
	case b.rest == nil:
		b.rest = time.NewTimer(maxRest)
	}
	for range maxYield {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
		if len(q.waiting) > 0 {
			return
		}
	}
	came := make(chan struct{})
	q.came = came
	q.mu.Unlock()
	select {
	case <-came:
		q.mu.Lock()
	case <-b.rest.C:
		q.mu.Lock()
		q.came, b.tired = nil, true
		q.vain = min(2*q.vain+1, maxSkip)
		q.skip = q.vain
	}
}

// join puts r in the line, and tells a leader who waits for somebody.
func (q *queue) join(r *write) {
	q.waiting = append(q.waiting, r)
	if q.came != nil {
		close(q.came)
		q.came = nil
	}
}
