package engine

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// worker brings changes to one generation, a batch at a time.
type worker struct {
	shared     *shared
	kind       *kind
	name       string // of the follower
	generation string
	index      target // nil until it is opened
	limit      int    // of a batch: smaller where the service is slow
	poke       chan struct{}
	failed     atomic.Pointer[error] // what the last turn could not do
}

func newWorker(s *shared, k *kind, name, generation string) *worker {
	return &worker{shared: s, kind: k, name: name, generation: generation, limit: s.opt.Batch, poke: make(chan struct{}, 1)}
}

// run works until loop ends or the generation is followed no more; a batch in
// flight is finished, unless work ends.
func (w *worker) run(loop, work context.Context) {
	for failures := 0; loop.Err() == nil; {
		n, followed, err := w.turn(work)
		switch {
		case !followed:
			return
		case err != nil:
			w.failed.Store(&err)
			failures++
			pause(loop, min(w.shared.opt.backoff(failures-1), w.shared.opt.Pause))
		default:
			w.failed.Store(nil)
			if failures = 0; n == 0 {
				w.idle(loop)
			}
		}
	}
}

// idle waits for work; what is to be tried later or was left by others is
// looked for once in a while.
func (w *worker) idle(loop context.Context) {
	t := time.NewTimer(w.shared.opt.Refresh)
	defer t.Stop()
	select {
	case <-w.poke:
	case <-t.C:
	case <-loop.Done():
	}
}

// turn claims a batch, places it and settles it. Without an error from the
// service there may still be items that it refused.
func (w *worker) turn(ctx context.Context) (n int, followed bool, err error) {
	e, o := w.shared.engine, &w.shared.opt
	if w.index == nil {
		err := w.kind.backend.call(ctx, o.Hold, func(ctx context.Context) (err error) {
			w.index, err = w.kind.open(ctx, w.generation)
			return err
		})
		if err != nil {
			w.index = nil
			return 0, true, err
		}
	}
	if w.kind.backend.spared() {
		return 0, true, memtypes.Errorf("engine", memtypes.Unavailable, "the %s service is left alone for now", w.kind.name)
	}
	began := e.now()
	intents, err := e.parts.Ledger.Claim(ctx, w.name, o.Holder, began, o.Hold, w.limit)
	if err != nil {
		return 0, memtypes.CodeOf(err) != memtypes.NotFound, err
	}
	if len(intents) == 0 {
		return 0, true, nil
	}
	e.at("claimed")
	settled, err := w.place(ctx, intents)
	if err != nil && memtypes.CodeOf(err) != memtypes.Unavailable {
		w.index = nil // made anew, if somebody removed it
	}
	e.at(w.kind.name + " written")
	if serr := e.parts.Ledger.Settle(ctx, w.name, o.Holder, settled); serr != nil {
		return 0, memtypes.CodeOf(serr) != memtypes.NotFound, serr
	}
	e.at("settled")
	if w.limit = min(2*w.limit, o.Batch); e.now().Sub(began) > o.Hold/2 {
		w.limit = max(1, len(intents)/2)
	}
	return len(intents), true, err
}

// place writes what the ledger has of intents now, with the neighbours whose
// context they are. An error is one of the whole batch, for which no memory
// can be blamed: all are due again later.
func (w *worker) place(ctx context.Context, intents []ledger.Intent) ([]ledger.Settled, error) {
	bounded, cancel := context.WithTimeout(ctx, w.shared.opt.Hold)
	defer cancel()
	blame, err := w.write(bounded, intents)
	if memtypes.CodeOf(err) == memtypes.Invalid && err != nil && len(intents) > 1 {
		// One of them spoils the others: halve, until it stands alone.
		half := len(intents) / 2
		first, err := w.place(ctx, intents[:half])
		if err != nil {
			return append(first, w.postponed(intents[half:], err)...), err
		}
		second, err := w.place(ctx, intents[half:])
		return append(first, second...), err
	}
	if memtypes.CodeOf(err) == memtypes.Invalid && err != nil {
		blame, err = refusals{intents[0].ID: err}, nil
	}
	if err != nil {
		return w.postponed(intents, err), err
	}
	settled := make([]ledger.Settled, len(intents))
	for i, in := range intents {
		settled[i] = w.verdict(in, blame[in.ID])
	}
	return settled, nil
}

// postponed has all intents tried again soon: none of them is to blame, and the
// breaker and the pauses of run spare the service. Were they to wait longer each
// time, a service that is back after an hour would lack them for minutes more.
func (w *worker) postponed(intents []ledger.Intent, err error) []ledger.Settled {
	settled := make([]ledger.Settled, len(intents))
	at := w.shared.engine.now().Add(w.shared.opt.backoff(0))
	for i, in := range intents {
		settled[i] = ledger.Settled{Intent: in, Verdict: ledger.Later, Reason: reason(err), At: at}
	}
	return settled
}

func (w *worker) later(in ledger.Intent, err error) ledger.Settled {
	return ledger.Settled{Intent: in, Verdict: ledger.Later, Reason: reason(err),
		At: w.shared.engine.now().Add(w.shared.opt.backoff(in.Tries))}
}

// verdict is what becomes of in, whose projection failed with err, or nil.
func (w *worker) verdict(in ledger.Intent, err error) ledger.Settled {
	switch {
	case err == nil:
		return ledger.Settled{Intent: in, Verdict: ledger.Placed}
	case memtypes.CodeOf(err) == memtypes.Unavailable:
		return w.later(in, err)
	}
	return ledger.Settled{Intent: in, Verdict: ledger.Poison, Reason: reason(err), At: w.shared.engine.now()}
}

// backoff is how long to wait after tries failed ones: doubled each time, with
// jitter, so that what failed together does not come back together.
func (o *Shared) backoff(tries int) time.Duration {
	d := o.Retry << min(tries, 20)
	if d > o.MaxRetry || d <= 0 {
		d = o.MaxRetry
	}
	return d/2 + rand.N(d)
}
