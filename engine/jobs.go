package engine

import (
	"context"
	"time"

	"github.com/vimbank/vimbank/stores/ledger"
)

// Runs lists the runs of a job (empty: of all), newest first, at most limit.
func (e *Engine) Runs(ctx context.Context, job string, limit int) ([]ledger.Run, error) {
	if err := e.open("engine.Runs"); err != nil {
		return nil, err
	}
	return e.parts.Ledger.Runs(ctx, job, limit)
}

// Lease takes or renews the right to run a job among all processes that share
// the bank; see ledger.Jobs.
func (e *Engine) Lease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (ledger.Lease, error) {
	if err := e.open("engine.Lease"); err != nil {
		return ledger.Lease{}, err
	}
	return e.parts.Ledger.Acquire(ctx, name, holder, now, ttl)
}

// Release gives a lease up.
func (e *Engine) Release(ctx context.Context, l ledger.Lease) error {
	if err := e.open("engine.Release"); err != nil {
		return err
	}
	return e.parts.Ledger.Release(ctx, l)
}

// Record writes down how a run went, under its lease: Conflict if that is
// another's by now.
func (e *Engine) Record(ctx context.Context, l ledger.Lease, run ledger.Run) error {
	if err := e.open("engine.Record"); err != nil {
		return err
	}
	_, err := e.parts.Ledger.Append(ctx, ledger.Batch{Now: e.now(), Actor: run.Actor, RunID: run.ID, Fence: &l, Runs: []ledger.Run{run}})
	return err
}

// Snapshot lets the in-process indexes follow the ledger and rest on disk, so
// that the next start replays little; it does nothing where nothing has changed.
// Services rest by themselves: of those it has the live generations forget the
// tombstones of what was removed longer ago than a late write can come, and
// free what was replaced.
func (e *Engine) Snapshot(ctx context.Context) error {
	if err := e.open("engine.Snapshot"); err != nil {
		return err
	}
	if e.shared != nil {
		return e.shared.tidy(ctx)
	}
	if _, err := e.catchUp(ctx); err != nil {
		return err
	}
	if err := e.follow.enter(ctx); err != nil {
		return err
	}
	defer e.follow.leave()
	if e.unsaved.Load() == 0 {
		return nil
	}
	return e.save(ctx, true)
}
