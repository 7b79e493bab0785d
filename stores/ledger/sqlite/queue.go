package sqlite

import (
	"context"
	"sync"
	"time"
)

// Bounds of the queue.
const (
	maxBatch = 128                    // writes that share one transaction
	maxRest  = 100 * time.Microsecond // for others to come, before the leader goes on with a smaller batch
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
	serve  func([]*write)
	places chan struct{} // taken by who waits, which bounds how many do

	mu       sync.Mutex // guards all below
	waiting  []*write
	led      bool
	expect   int           // how many write at once, as of the last batch
	complete chan struct{} // of a leader who rests: closed when that many wait
	vain     int           // grows with each rest in vain
	skip     int           // rests to be left out
}

func newQueue(places int, serve func([]*write)) *queue {
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
	batch := q.gather()
	q.serve(batch)
	q.mu.Lock()
	q.expect = len(batch) + len(q.waiting)
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].leads = true
		q.waiting[0].told <- false
	}
	q.mu.Unlock()
	for _, r := range batch {
		if !r.leads {
			r.told <- true
		}
	}
}

// gather takes what waits. After a batch of several, those that it released
// come back within microseconds: the leader rests until they are there, or the
// batches of eight callers would stay at five and three.
func (q *queue) gather() []*write {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) < min(q.expect, maxBatch) {
		if q.skip--; q.skip < 0 {
			q.rest()
		}
	}
	n := min(len(q.waiting), maxBatch)
	batch := q.waiting[:n:n]
	q.waiting = append([]*write(nil), q.waiting[n:]...)
	return batch
}

// rest waits for the others, not long, and after it was in vain less and less
// often: callers that do other things in between are not worth it. q.mu is held
// before and after.
func (q *queue) rest() {
	complete := make(chan struct{})
	q.complete = complete
	q.mu.Unlock()
	patience := time.NewTimer(maxRest)
	defer patience.Stop()
	select {
	case <-complete:
		q.mu.Lock()
		q.vain, q.skip = 0, 0
	case <-patience.C:
		q.mu.Lock()
		q.complete = nil
		q.vain = min(2*q.vain+1, maxSkip)
		q.skip = q.vain
	}
}

// join puts r in the line, and tells a leader who rests if it was the last.
func (q *queue) join(r *write) {
	q.waiting = append(q.waiting, r)
	if q.complete != nil && len(q.waiting) >= min(q.expect, maxBatch) {
		close(q.complete)
		q.complete = nil
	}
}
