package bank_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/upkeep"
)

// replicas opens n engines on one bank.
func replicas(t testing.TB, o *bank.Options, n int) []*engine.Engine {
	t.Helper()
	out := make([]*engine.Engine, n)
	for i := range out {
		c := another(o)
		c.Services.Postgres.Options.MaxConns = 5
		c.Services.Pump.Search = patience
		out[i] = open(t, "", c)
	}
	return out
}

// Three engines write, recall and forget at once; what one was told, the others
// know at their next call.
func TestReplicas(t *testing.T) {
	t.Parallel()
	o := cluster(t)
	all := replicas(t, o, 3)
	w, told := newWitness(t), newWitness(t)
	told.said = 100_000
	settles(t, all[0])
	seen := w.under(t, func() {
		for i := range 6 {
			by := all[i%3]
			id := told.tells(t, by, 1)[0]
			for _, e := range all {
				told.mu.Lock()
				told.recalled(t, e, id, told.texts[id])
				told.mu.Unlock()
			}
			if i%2 == 0 {
				continue
			}
			if err := told.forget(all[(i+1)%3], id); err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				told.mu.Lock()
				told.recalled(t, e, id, "")
				told.mu.Unlock()
			}
		}
	}, all...)
	for _, o := range seen {
		if o.err != nil || len(o.degraded) > 0 {
			t.Errorf("%s: %v, degraded %v, want nothing wrong", o.op, o.err, o.degraded)
		}
	}
	for id := range told.touched { // one account from here on
		w.may[id], w.texts[id], w.touched[id] = told.may[id], told.texts[id], true
	}
	settles(t, all[1])
	w.check(t, open(t, "", patient(o)))
}

// Several schedulers come to the same tick at once: one of them runs the job.
func TestReplicasAtOneTick(t *testing.T) {
	t.Parallel()
	all := replicas(t, cluster(t), 3)
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	var seen ended
	var schedulers []*upkeep.Scheduler
	for _, e := range all {
		schedulers = append(schedulers, schedule(t, e, bank.Specs{Decay: "@hourly", Reconcile: "@hourly"},
			&upkeep.Options{Ended: seen.add, Now: func() time.Time { return time.Unix(0, clock.Load()) }}))
	}
	const ticks = 4
	for range ticks {
		var wg sync.WaitGroup
		for _, s := range schedulers {
			wg.Go(func() {
				// Whoever comes while another runs it is told so.
				if _, err := s.RunDue(t.Context()); err != nil && memtypes.CodeOf(err) != memtypes.Conflict {
					t.Errorf("RunDue: %v", err)
				}
			})
		}
		wg.Wait()
		clock.Add(int64(time.Hour))
	}
	for _, job := range []string{"decay", "reconcile"} {
		if n := seen.runs[bank.JobPrefix+job]; n != ticks {
			t.Errorf("%s ran %d times at %d ticks of three schedulers, want once each", job, n, ticks)
		}
		runs, err := all[0].Runs(t.Context(), bank.JobPrefix+job, 100)
		if err != nil || len(runs) != ticks {
			t.Errorf("%s: %d runs in the ledger, %v, want %d", job, len(runs), err, ticks)
		}
	}
	if len(seen.bad) > 0 {
		t.Errorf("failed: %v", seen.bad)
	}
}

// One that holds a lease stands still until after its time: what it writes then
// is refused, and its successor's stays.
func TestReplicaPastItsLease(t *testing.T) {
	t.Parallel()
	all := replicas(t, cluster(t), 2)
	a, b := all[0], all[1]
	now := time.Now().UTC()
	mine, err := a.Lease(t.Context(), "job", "a", now, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Lease(t.Context(), "job", "b", now, time.Second); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("the lease while it is held: %v, want Conflict", err)
	}
	its, err := b.Lease(t.Context(), "job", "b", now.Add(2*time.Second), time.Minute)
	if err != nil || its.Fence <= mine.Fence {
		t.Fatalf("the lease after its time: fence %d, %v, want more than %d", its.Fence, err, mine.Fence)
	}
	late := ledger.Run{ID: "job-1", Job: "job", Actor: "a", Status: "done", Started: now}
	if err := a.Record(t.Context(), mine, late); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("Record past the lease: %v, want Conflict", err)
	}
	if _, err := a.Lease(t.Context(), "job", "a", now, time.Minute); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("renewed past its time: %v, want Conflict", err)
	}
	if err := a.Release(t.Context(), mine); err != nil {
		t.Errorf("Release of what is another's by now: %v, want it left alone", err)
	}
	late.Actor = "b"
	if err := b.Record(t.Context(), its, late); err != nil {
		t.Errorf("Record by the successor: %v", err)
	}
	if runs, err := a.Runs(t.Context(), "job", 10); err != nil || len(runs) != 1 || runs[0].Actor != "b" {
		t.Errorf("runs = %+v, %v, want the successor's alone", runs, err)
	}
}

// A replica stands still in the middle of its work for longer than its claims
// hold; the others do it, and what it still does when it goes on changes nothing.
func TestReplicaPaused(t *testing.T) {
	for _, point := range []string{"claimed", "dense written", "sparse written"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			o := cluster(t)
			o.Services.Pump.Hold = 3 * time.Second
			f := another(o)
			var armed atomic.Bool
			reached, thawed := make(chan struct{}), make(chan struct{})
			stop, thaw := sync.OnceFunc(func() { close(reached) }), sync.OnceFunc(func() { close(thawed) })
			f.Engine.At = func(at string) {
				if armed.Load() && at == point {
					stop()
				}
				select {
				case <-reached:
					<-thawed
				default:
				}
			}
			a := open(t, "", f)
			t.Cleanup(thaw) // before a is closed
			w := newWitness(t)
			ids := w.tells(t, a, 4)
			settles(t, a)
			armed.Store(true)
			var writing sync.WaitGroup
			writing.Go(func() {
				for range 3 {
					if _, err := w.remember(a); err != nil {
						t.Errorf("Remember: %v", err)
					}
				}
			})
			<-reached
			b := open(t, "", o)
			if err := errors.Join(w.forget(b, ids[0]), w.update(b, ids[1])); err != nil {
				t.Fatal(err)
			}
			w.tells(t, b, 3)
			settles(t, b)
			thaw()
			writing.Wait()
			settles(t, a)
			w.check(t, open(t, "", patient(o)))
		})
	}
}

// Each process of a bank is closed at once while it works, one after the other:
// nothing that it had begun is left to wait for.
func TestReplicasClose(t *testing.T) {
	t.Parallel()
	o := cluster(t)
	o.Services.Pump.Hold = 10 * time.Minute // what is left behind would wait as long
	all := replicas(t, o, 3)
	w := newWitness(t)
	settles(t, all[0])
	last := all[2]
	_ = w.under(t, func() {
		time.Sleep(300 * time.Millisecond)
		shut(t, all[0])
		shut(t, all[1])
	}, last)
	if _, err := all[0].Recall(t.Context(), memtypes.Query{Scope: w.scope, Text: "The river."}); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Recall after Close: %v, want Unavailable", err)
	}
	settles(t, last)
	w.check(t, open(t, "", patient(o)))
}
