package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// DecayJob is the name of the job, of its lease and of its runs.
const DecayJob = "decay"

// DecayRequest asks for a run of forgetting (VIMBank section on updating, eq. 6).
type DecayRequest struct {
	Scope   memtypes.Scope // what to look at; the zero Scope is the whole bank
	Now     time.Time      // zero means the engine's clock
	Apply   bool           // false: only a preview
	Purge   bool           // erase what was retired longer ago than the grace
	Confirm bool           // go on where the breaker or the clock would stop
	Actor   string
}

// TenantPlan is the plan for one tenant: the breaker watches each by itself.
type TenantPlan struct {
	Tenant string `json:"tenant"`
	forgetting.Plan
}

// DecayReport says what a run would do or did.
type DecayReport struct {
	RunID   string       `json:"run_id,omitempty"` // empty for a preview
	Plans   []TenantPlan `json:"plans"`            // by tenant
	Retired int          `json:"retired"`          // what was done, not what was planned
	Purged  int          `json:"purged"`
	Stale   int          `json:"stale"` // changed or recalled since they were judged: left alone
}

const (
	decayChunk = 256              // edits in one commit of a run
	leaseTime  = 10 * time.Minute // renewed with each commit
)

// Decay plans a run of forgetting and, if r.Apply, carries it out: memories
// below their threshold are retired, softly; Undo brings them back. It is
// Refused, with nothing done, where the breaker or the clock stops it and
// r.Confirm is not set, and Conflict while another process runs it.
func (e *Engine) Decay(ctx context.Context, r DecayRequest) (*DecayReport, error) {
	return e.decay(ctx, r, true)
}

// Purge erases what was retired longer ago than the grace, and retires
// nothing: r.Apply and r.Purge are taken as set. Refused where the clock stops it.
func (e *Engine) Purge(ctx context.Context, r DecayRequest) (*DecayReport, error) {
	r.Apply, r.Purge = true, true
	return e.decay(ctx, r, false)
}

func (e *Engine) decay(ctx context.Context, r DecayRequest, retire bool) (*DecayReport, error) {
	if err := e.open("engine.Decay"); err != nil {
		return nil, err
	}
	if r.Now.IsZero() {
		r.Now = e.now()
	}
	plans, err := e.planDecay(ctx, r)
	if err != nil {
		return nil, err
	}
	report := &DecayReport{Plans: plans}
	if !r.Apply {
		return report, nil
	}
	for i := range plans {
		if !retire {
			plans[i].Retire = nil
		}
		if !r.Purge {
			plans[i].Purge = nil
		}
		if err := cmp.Or(plans[i].Err(), plans[i].PurgeErr()); err != nil {
			return report, err
		}
	}
	run := ledger.Run{ID: runID(DecayJob, r.Now), Job: DecayJob, Scope: r.Scope, Actor: cmp.Or(r.Actor, e.opts.Actor),
		Status: "running", Started: r.Now, Counts: map[string]int{}}
	report.RunID = run.ID
	return report, e.applyDecay(ctx, report, &run)
}

// planDecay shows every memory of the scope to its tenant's planner.
func (e *Engine) planDecay(ctx context.Context, r DecayRequest) ([]TenantPlan, error) {
	o := e.opts.Forgetting
	o.Confirmed = r.Confirm
	last, err := e.lastRun(ctx)
	if err != nil {
		return nil, err
	}
	o.LastRun = last
	planners := map[string]*forgetting.Planner{}
	q := ledger.ListQuery{All: r.Scope.IsZero(), Filter: memtypes.Filter{Scope: r.Scope}, Limit: rebuildPage,
		States: []memtypes.State{memtypes.Active, memtypes.Retired}}
	for {
		page, err := e.parts.Ledger.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			m := &page.Memories[i]
			p := planners[m.Scope.Tenant()]
			if p == nil {
				if p, err = forgetting.NewPlanner(r.Now, &o); err != nil {
					return nil, err
				}
				planners[m.Scope.Tenant()] = p
			}
			p.Add(m)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	plans := make([]TenantPlan, 0, len(planners))
	for _, tenant := range slices.Sorted(maps.Keys(planners)) {
		plans = append(plans, TenantPlan{Tenant: tenant, Plan: planners[tenant].Plan()})
	}
	return plans, nil
}

// lastRun is when decay was last carried out; zero if never.
func (e *Engine) lastRun(ctx context.Context) (time.Time, error) {
	runs, err := e.parts.Ledger.Runs(ctx, DecayJob, 1)
	if err != nil || len(runs) == 0 {
		return time.Time{}, err
	}
	return runs[0].Started, nil
}

// applyDecay carries the plans out under the job's lease.
func (e *Engine) applyDecay(ctx context.Context, report *DecayReport, run *ledger.Run) (err error) {
	lease, err := e.parts.Ledger.Acquire(ctx, DecayJob, run.ID, e.now(), leaseTime)
	if err != nil {
		return err
	}
	defer func() {
		run.Status, run.Ended = "done", e.now()
		if err != nil {
			run.Status, run.Detail = "failed", map[string]string{"error": err.Error()}
		}
		run.Counts = map[string]int{"retired": report.Retired, "purged": report.Purged, "stale": report.Stale}
		done := context.WithoutCancel(ctx)
		_, werr := e.parts.Ledger.Append(done, ledger.Batch{Now: e.now(), Actor: run.Actor, RunID: run.ID, Runs: []ledger.Run{*run}})
		err = cmp.Or(err, werr, e.parts.Ledger.Release(done, lease))
	}()
	for i := range report.Plans {
		p := &report.Plans[i]
		if err := e.carryOut(ctx, &lease, run, ledger.Retire, p.Retire, &report.Retired, &report.Stale); err != nil {
			return err
		}
		if err := e.carryOut(ctx, &lease, run, ledger.Purge, p.Purge, &report.Purged, &report.Stale); err != nil {
			return err
		}
	}
	return nil
}

// carryOut applies one operation to items, commit by commit, and counts.
func (e *Engine) carryOut(ctx context.Context, lease *ledger.Lease, run *ledger.Run, do ledger.Op, items []forgetting.Item, done, stale *int) error {
	if do == ledger.Purge && e.shared != nil {
		// Where a service has yet to take that it is retired, the place must
		// stay known: the next run purges it.
		placed := e.shared.placed()
		all := len(items)
		items = slices.DeleteFunc(slices.Clone(items), func(it forgetting.Item) bool { return it.Rev > placed })
		*stale += all - len(items)
	}
	for chunk := range slices.Chunk(items, decayChunk) {
		renewed, err := e.parts.Ledger.Acquire(ctx, DecayJob, run.ID, e.now(), leaseTime)
		if err != nil {
			return err
		}
		*lease = renewed
		b := ledger.Batch{Now: run.Started, Actor: run.Actor, RunID: run.ID, Fence: lease, Runs: []ledger.Run{*run}}
		for _, it := range chunk {
			b.Edits = append(b.Edits, ledger.Edit{Op: do, Memory: memtypes.Memory{ID: it.ID, Scope: it.Scope},
				IfRev: it.Rev, IfRecalls: &it.Recalls, Reason: it.Reason})
		}
		results, err := e.parts.Ledger.Append(ctx, b)
		if err != nil {
			return err
		}
		var last uint64
		for _, res := range results {
			switch last = max(last, res.Rev); res.Outcome {
			case ledger.Done:
				*done++
			case ledger.Stale, ledger.Missing:
				*stale++
			}
		}
		e.index(ctx, last)
	}
	return nil
}

// Undo restores everything that a decay run retired and that was not purged or
// restored since, as it was before, and returns how many that were. NotFound
// if there is no such run.
func (e *Engine) Undo(ctx context.Context, id string) (int, error) {
	const op = "engine.Undo"
	if err := e.open(op); err != nil {
		return 0, err
	}
	run, err := e.parts.Ledger.Run(ctx, id)
	if err != nil {
		return 0, err
	}
	restored := 0
	for {
		page, err := e.parts.Ledger.List(ctx, ledger.ListQuery{All: true, States: []memtypes.State{memtypes.Retired}, RunID: id, Limit: decayChunk})
		if err != nil {
			return restored, err
		}
		if len(page.Memories) == 0 {
			break
		}
		edits := make([]ledger.Edit, len(page.Memories))
		for i, m := range page.Memories {
			edits[i] = ledger.Edit{Op: ledger.Restore, Memory: memtypes.Memory{ID: m.ID, Scope: m.Scope}, Reason: "undo of " + id}
		}
		if _, err := e.edit(ctx, op, "", id, edits...); err != nil {
			return restored, err
		}
		restored += len(edits)
	}
	run.Status = "undone"
	_, err = e.parts.Ledger.Append(ctx, ledger.Batch{Now: e.now(), Actor: e.opts.Actor, RunID: id, Runs: []ledger.Run{run}})
	return restored, err
}

// runID names a run so that a person can tell when it was.
func runID(job string, at time.Time) string {
	var b [4]byte
	rand.Read(b[:])
	return job + "-" + at.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}
