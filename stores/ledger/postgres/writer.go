package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbank/vimbank/memtypes"
)

// Bounds of what shares a commit.
const (
	maxGroup = 128                    // writes
	maxRows  = 12000                  // of them all, about
	maxBytes = 16 << 20               // of their content, about
	maxRest  = 200 * time.Microsecond // for those that the last commit released to come back
	maxSkip  = 63                     // rests that are left out once they were in vain
)

// write is one caller's part of a transaction.
type write struct {
	need  needs
	do    func(*tx) error
	err   error
	state atomic.Int32 // waiting, withdrawn or taken
	done  chan struct{}
}

// The states of a write.
const (
	waiting int32 = iota
	withdrawn
	taken // it may be in a commit: nobody can withdraw it any more
)

// writer owns the connection that writes memories, and the goroutine that
// gathers what waits into one transaction after another.
type writer struct {
	db      *DB
	pool    *pgxpool.Pool // of one connection
	line    chan *write
	closing chan struct{}
	stopped chan struct{}

	// Owned by the goroutine.
	over   *write // taken from the line, too large for the last group
	expect int    // how many wrote at once last
	vain   int    // grows with each rest in vain
	skip   int    // rests to be left out
}

func (db *DB) startWriter(config *pgxpool.Config) (*writer, error) {
	pool, err := db.newPool(config, "writes")
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, pool: pool, line: make(chan *write, db.opt.Queue), closing: make(chan struct{}), stopped: make(chan struct{})}
	go w.run()
	return w, nil
}

// stop ends the goroutine. No submit may run or follow.
func (w *writer) stop() {
	close(w.closing)
	<-w.stopped
	w.pool.Close()
}

// submit has do run in a transaction and returns when that is durable. Until
// it is worked out, ctx can withdraw it; from then on it cannot.
func (w *writer) submit(ctx context.Context, need needs, do func(*tx) error) error {
	r := &write{need: need, do: do, done: make(chan struct{})}
	select {
	case w.line <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(waiting, withdrawn) {
		return ctx.Err()
	}
	<-r.done
	return r.err
}

// run serves one group after another.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		first := w.over
		w.over = nil
		if first == nil {
			select {
			case first = <-w.line:
			case <-w.closing:
				return
			}
		}
		group := w.gather(first)
		w.serve(group)
		w.expect = len(group) + len(w.line)
		for _, r := range group {
			close(r.done)
		}
	}
}

// gather takes what waits, and after a group of several waits a moment for
// those to come back, or the groups of eight callers would stay at five and three.
func (w *writer) gather(first *write) []*write {
	group := []*write{first}
	size, bytes := first.need.size, first.need.bytes
	fits := func(r *write) bool {
		size, bytes = size+r.need.size, bytes+r.need.bytes
		if size <= maxRows && bytes <= maxBytes {
			group = append(group, r)
			return true
		}
		w.over = r
		return false
	}
	for len(group) < maxGroup {
		select {
		case r := <-w.line:
			if !fits(r) {
				return group
			}
			continue
		default:
		}
		break
	}
	if len(group) >= min(w.expect, maxGroup) {
		w.vain, w.skip = 0, 0
		return group
	}
	if w.skip > 0 {
		w.skip--
		return group
	}
	rest := time.NewTimer(maxRest)
	defer rest.Stop()
	for len(group) < min(w.expect, maxGroup) {
		select {
		case r := <-w.line:
			if !fits(r) {
				return group
			}
		case <-rest.C:
			w.vain = min(2*w.vain+1, maxSkip)
			w.skip = w.vain
			return group
		}
	}
	return group
}

// serve does a group. If its transaction fails for what is in it, each write
// gets one of its own, so that none fails for its companions' sake.
func (w *writer) serve(group []*write) {
	err := w.attempt(group)
	if err == nil {
		return
	}
	bad, alone := errors.AsType[spoiled](err)
	if alone {
		err = bad.err
	} else if _, known := errors.AsType[*memtypes.Error](err); !known {
		code, _ := judge(err)
		alone = code == memtypes.Internal || code == memtypes.Invalid
	}
	alone = alone && len(group) > 1
	for _, r := range group {
		switch {
		case r.state.Load() == withdrawn:
		case alone:
			r.err = w.alone(r)
		default:
			r.err = err
		}
	}
}

// alone does one write, whose error is its own.
func (w *writer) alone(r *write) error {
	err := w.attempt([]*write{r})
	if bad, ok := errors.AsType[spoiled](err); ok {
		return bad.err
	}
	if err == nil {
		return r.err // refused
	}
	return err
}

// spoiled is the error of a write that came after it had changed what the
// transaction writes: nothing of it may be committed.
type spoiled struct{ err error }

func (s spoiled) Error() string { return s.err.Error() }
