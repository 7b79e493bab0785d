package engine

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// RebuildJob is the name of the job, of its lease and of its runs, where the
// indexes are shared.
const RebuildJob = "rebuild"

// rebuildTime is how long the lease of a rebuild lasts: as long after a kill
// another process goes on with it.
const rebuildTime = 30 * time.Second

// The details of a rebuild's run. The new generations are under their kinds'
// names, and the embedder's hash under detailHash.
const (
	detailHash   = "projection"
	detailFrom   = "from"   // the ledger's head when the new generations began to follow
	detailCursor = "cursor" // how far they are filled
	detailFilled = "filled" // the ledger's head when they were
)

// regeneration is a rebuild on its way: its run in the ledger says how far it
// has come, so that any process can go on with it.
type regeneration struct {
	shared   *shared
	lease    ledger.Lease
	run      ledger.Run
	progress Progress
}

// rebuild makes new generations, or goes on with those that somebody has begun,
// and lets them serve.
func (s *shared) rebuild(ctx context.Context, progress Progress) error {
	earlier, err := s.unfinished(ctx)
	if err != nil {
		return err
	}
	if err := s.rebuilds.enter(ctx); err != nil {
		return err
	}
	defer s.rebuilds.leave()
	run, err := s.unfinished(ctx)
	if err != nil || earlier != nil && run == nil { // it was finished beside us
		return err
	}
	if run != nil && !s.mine(run) {
		if err := s.abandon(ctx, run); err != nil {
			return err
		}
		run = nil
	}
	if run == nil {
		if err := s.plan(ctx); err != nil {
			return err
		}
	}
	for {
		done, err := s.carryOut(ctx, progress)
		if done || memtypes.CodeOf(err) != memtypes.Conflict {
			return err
		}
		pause(ctx, s.opt.Refresh) // another process is at it
		if ctx.Err() != nil {
			return memtypes.Errorf("engine.Rebuild", memtypes.Canceled, "%w", ctx.Err())
		}
	}
}

// unfinished is the rebuild that is under way, or nil.
func (s *shared) unfinished(ctx context.Context) (*ledger.Run, error) {
	runs, err := s.engine.parts.Ledger.Runs(ctx, RebuildJob, 1)
	if err != nil || len(runs) == 0 || runs[0].Status != "running" {
		return nil, err
	}
	return &runs[0], nil
}

// mine reports whether this process can carry run out: it needs the embedder
// that the rebuild was planned with.
func (s *shared) mine(run *ledger.Run) bool { return run.Detail[detailHash] == s.hash }

// abandon ends a rebuild that nobody is at; what it has made is removed by the
// next one.
func (s *shared) abandon(ctx context.Context, run *ledger.Run) error {
	r := &regeneration{shared: s, run: *run}
	if err := r.renew(ctx); err != nil {
		return err
	}
	defer func() { _ = s.engine.parts.Ledger.Release(context.WithoutCancel(ctx), r.lease) }()
	return r.end(ctx, "stopped")
}

// plan writes down a rebuild for somebody to carry out.
func (s *shared) plan(ctx context.Context) error {
	e := s.engine
	head, err := e.parts.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	run := ledger.Run{ID: runID(RebuildJob, e.now()), Job: RebuildJob, Actor: e.opts.Actor, Status: "running", Started: e.now(),
		Counts: map[string]int{}, Detail: map[string]string{detailHash: s.hash, detailFrom: strconv.FormatUint(head, 10)}}
	for _, k := range s.kinds {
		_, names, err := s.look(ctx, k)
		if err != nil {
			return err
		}
		run.Detail[k.name] = s.next(names, s.followedNames(k))
	}
	_, err = e.parts.Ledger.Append(ctx, ledger.Batch{Now: e.now(), Actor: run.Actor, RunID: run.ID, Runs: []ledger.Run{run}})
	return err
}

// carryOut goes on with the unfinished rebuild, if there is one and no other
// process is at it, which is Conflict. s.rebuilds must be held.
func (s *shared) carryOut(ctx context.Context, progress Progress) (done bool, err error) {
	l := s.engine.parts.Ledger
	run, err := s.unfinished(ctx)
	if err != nil || run == nil || !s.mine(run) {
		return err == nil, err
	}
	r := &regeneration{shared: s, run: *run, progress: progress}
	if err := r.renew(ctx); err != nil {
		return false, err
	}
	defer func() { _ = l.Release(context.WithoutCancel(ctx), r.lease) }()
	if again, err := s.unfinished(ctx); err != nil || again == nil || again.ID != run.ID {
		return err == nil, err // finished while the lease was another's
	} else {
		r.run = *again
	}
	if r.run.Counts == nil {
		r.run.Counts = map[string]int{}
	}
	ctx, release := r.hold(ctx)
	defer release()
	for _, step := range []func(context.Context) error{r.follow, r.fill, r.catchUp, r.change, r.clean} {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	return true, r.end(ctx, "done")
}

// resume goes on with a rebuild that nobody carries out, beside everything else.
func (p *pump) resume(loop context.Context, all *sync.WaitGroup) {
	if run, err := p.shared.unfinished(loop); err != nil || run == nil || !p.shared.mine(run) || !p.shared.rebuilds.tryEnter() {
		return
	}
	all.Go(func() {
		defer p.shared.rebuilds.leave()
		_, _ = p.shared.carryOut(loop, nil) // what fails now is tried again soon
	})
}

// renew takes or keeps the lease.
func (r *regeneration) renew(ctx context.Context) (err error) {
	s := r.shared
	r.lease, err = s.engine.parts.Ledger.Acquire(ctx, RebuildJob, s.opt.Holder, s.engine.now(), rebuildTime)
	return err
}

// hold keeps the lease until release is called, however long a step takes; the
// context that it gives ends when the lease is another's.
func (r *regeneration) hold(ctx context.Context) (held context.Context, release func()) {
	held, cancel := context.WithCancelCause(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for held.Err() == nil {
			pause(held, rebuildTime/4)
			s := r.shared
			_, err := s.engine.parts.Ledger.Acquire(held, RebuildJob, s.opt.Holder, s.engine.now(), rebuildTime)
			if memtypes.CodeOf(err) == memtypes.Conflict && err != nil {
				cancel(err)
			}
		}
	})
	return held, func() {
		cancel(nil)
		done.Wait()
	}
}

// note writes down how far the rebuild has come, if it is still ours.
func (r *regeneration) note(ctx context.Context) error {
	if err := r.renew(ctx); err != nil {
		return err
	}
	e := r.shared.engine
	_, err := e.parts.Ledger.Append(ctx, ledger.Batch{Now: e.now(), Actor: r.run.Actor, RunID: r.run.ID, Fence: &r.lease, Runs: []ledger.Run{r.run}})
	return err
}

// end writes down that the rebuild is over.
func (r *regeneration) end(ctx context.Context, status string) error {
	r.run.Status, r.run.Ended = status, r.shared.engine.now()
	return r.note(ctx)
}

// patiently calls do until nothing that it needs is away, for as long as a
// breaker may be open a few times.
func (r *regeneration) patiently(ctx context.Context, do func() error) error {
	const tries = 8
	o := &r.shared.opt
	for try := 0; ; try++ {
		err := do()
		if err == nil || memtypes.CodeOf(err) != memtypes.Unavailable || try == tries {
			return err
		}
		pause(ctx, min(o.backoff(try), o.Pause+o.Retry))
		if err := r.renew(ctx); err != nil {
			return err
		}
	}
}

// ask is patiently, for one call of the service of k.
func (r *regeneration) ask(ctx context.Context, k *kind, do func(context.Context) error) error {
	return r.patiently(ctx, func() error { return k.backend.insist(ctx, r.shared.opt.Hold, do) })
}
