package bank

import (
	"context"
	"fmt"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/upkeep"
)

// Specs says when the background jobs of a bank run: cron specs of five fields
// in UTC (see upkeep.Parse); an empty one leaves its job out.
type Specs struct {
	Decay     string // retire what has faded
	Purge     string // erase what was retired longer ago than the grace
	Reconcile string // compare the indexes with the ledger, and repair
	Snapshot  string // let the in-process indexes rest on disk
}

// JobPrefix stands before the names of the settings in the names of jobs, so
// that a job's lease and runs are not taken for those of what it does.
const JobPrefix = "upkeep/"

// Upkeep makes the scheduler of e's jobs, which stands still until it is
// started. Of all processes that share the bank, one runs each job. o may be nil.
func Upkeep(e *engine.Engine, s Specs, o *upkeep.Options) (*upkeep.Scheduler, error) {
	var jobs []upkeep.Job
	add := func(name, spec string, run func(ctx context.Context, r upkeep.Run) error) {
		if spec != "" {
			jobs = append(jobs, upkeep.Job{Name: JobPrefix + name, Spec: spec, Run: run, Timeout: jobTimeout})
		}
	}
	add("decay", s.Decay, func(ctx context.Context, r upkeep.Run) error {
		_, err := e.Decay(ctx, engine.DecayRequest{Apply: true, Now: r.Tick, Actor: r.Job})
		return err
	})
	add("purge", s.Purge, func(ctx context.Context, r upkeep.Run) error {
		_, err := e.Purge(ctx, engine.DecayRequest{Now: r.Tick, Actor: r.Job})
		return err
	})
	add("reconcile", s.Reconcile, func(ctx context.Context, _ upkeep.Run) error {
		_, err := e.Reconcile(ctx, true)
		return err
	})
	add("snapshot", s.Snapshot, func(ctx context.Context, _ upkeep.Run) error { return e.Snapshot(ctx) })
	return upkeep.New(jobs, book{e}, o)
}

// jobTimeout bounds one run of any job.
const jobTimeout = time.Hour

// book lets the scheduler keep its leases and reports in the ledger.
type book struct{ e *engine.Engine }

func (b book) Acquire(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (upkeep.Lease, error) {
	l, err := b.e.Lease(ctx, name, holder, now, ttl)
	return upkeep.Lease(l), err
}

func (b book) Release(ctx context.Context, l upkeep.Lease) error {
	return b.e.Release(ctx, ledger.Lease(l))
}

func (b book) LastRun(ctx context.Context, job string) (upkeep.Report, error) {
	runs, err := b.e.Runs(ctx, job, 1)
	if err != nil || len(runs) == 0 {
		return upkeep.Report{}, err
	}
	r := runs[0]
	tick, err := time.Parse(time.RFC3339, r.Detail["tick"])
	if err != nil {
		return upkeep.Report{}, memtypes.Errorf("bank.Upkeep", memtypes.Internal, "run %s: tick: %w", r.ID, err)
	}
	return upkeep.Report{Job: job, Holder: r.Actor, Tick: tick, Started: r.Started, Ended: r.Ended, Error: r.Detail["error"]}, nil
}

func (b book) Record(ctx context.Context, l upkeep.Lease, r upkeep.Report) error {
	run := ledger.Run{ID: fmt.Sprintf("%s-%s", r.Job, r.Tick.UTC().Format("20060102T150405Z")), Job: r.Job, Actor: r.Holder,
		Status: "done", Started: r.Started, Ended: r.Ended, Detail: map[string]string{"tick": r.Tick.UTC().Format(time.RFC3339)}}
	if r.Error != "" {
		run.Status, run.Detail["error"] = "failed", r.Error
	}
	return b.e.Record(ctx, ledger.Lease(l), run)
}
