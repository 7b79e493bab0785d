package bank_test

import (
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/upkeep"
)

// ended counts runs by job and tells of those that failed.
type ended struct {
	mu   sync.Mutex
	runs map[string]int // guarded by mu
	bad  []string       // guarded by mu
}

func (e *ended) add(r upkeep.Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs == nil {
		e.runs = map[string]int{}
	}
	e.runs[r.Job]++
	if r.Error != "" {
		e.bad = append(e.bad, r.Job+": "+r.Error)
	}
}

func schedule(t testing.TB, e *engine.Engine, s bank.Specs, o *upkeep.Options) *upkeep.Scheduler {
	t.Helper()
	k, err := bank.Upkeep(e, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestUpkeepOfTwoEngines lets two engines of one bank keep it for a week: each
// tick has one run, whoever gets it.
func TestUpkeepOfTwoEngines(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := open(t, dir, &bank.Options{Embedder: tiny{8}})
		b := open(t, dir, &bank.Options{Embedder: tiny{8}})
		var seen ended
		specs := bank.Specs{Decay: "0 3 * * *", Purge: "30 3 * * *", Reconcile: "0 4 * * 0", Snapshot: "0 */6 * * *"}
		var both []*upkeep.Scheduler
		for _, e := range []*engine.Engine{a, b} {
			k := schedule(t, e, specs, &upkeep.Options{Ended: seen.add})
			if err := k.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			both = append(both, k)
			synctest.Wait()
		}
		time.Sleep(7*24*time.Hour + time.Hour)
		for _, k := range both {
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
		}
		// One run at the start, as none ever was, and one for each tick since.
		want := map[string]int{"upkeep/decay": 1 + 7, "upkeep/purge": 1 + 7, "upkeep/reconcile": 1 + 1, "upkeep/snapshot": 1 + 7*4}
		for job, n := range want {
			if seen.runs[job] != n {
				t.Errorf("%s ran %d times in a week, want %d", job, seen.runs[job], n)
			}
		}
		if len(seen.bad) > 0 {
			t.Errorf("failed: %v", seen.bad)
		}
	})
}

// TestUpkeepForgets lives through a month: what is never recalled is retired,
// then erased after the grace, and what is recalled stays.
func TestUpkeepForgets(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := &bank.Options{Embedder: tiny{8}}
		o.Engine.Forgetting.MaxShare = 1
		e := open(t, dir, o)
		ids := talk(t, e, "the ferry leaves at nine", "the oven is broken")
		k := schedule(t, e, bank.Specs{Decay: "0 3 * * *", Purge: "30 3 * * *"}, nil)
		if err := k.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		state := func(id memtypes.ID) string {
			m, err := e.Get(t.Context(), ada(t), id)
			if err != nil {
				return string(memtypes.CodeOf(err))
			}
			return string(m.State)
		}
		var gone []string
		for range 60 {
			time.Sleep(24 * time.Hour)
			if _, err := e.Recall(t.Context(), memtypes.Query{Scope: ada(t), Text: "ferry", Profile: "bm25", K: 1}); err != nil {
				t.Fatal(err)
			}
			if s := state(ids[1]); len(gone) == 0 || gone[len(gone)-1] != s {
				gone = append(gone, s)
			}
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if len(gone) != 3 || gone[0] != "active" || gone[1] != "retired" || gone[2] != "not_found" {
			t.Errorf("what nobody recalls was %v, want active, retired, not_found", gone)
		}
		if s := state(ids[0]); s != "active" {
			t.Errorf("what is recalled every day is %s, want active", s)
		}
	})
}

// talk remembers turns and returns their IDs.
func talk(t testing.TB, e *engine.Engine, texts ...string) (ids []memtypes.ID) {
	t.Helper()
	for _, text := range texts {
		r, err := e.Remember(t.Context(), []memtypes.Draft{{Scope: ada(t), Kind: memtypes.Dialogue, Text: text}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.Results[0].ID)
	}
	return ids
}

// TestUpkeepReports keeps what became of a job in the ledger, also when it failed.
func TestUpkeepReports(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &bank.Options{Embedder: tiny{8}})
	k := schedule(t, e, bank.Specs{Decay: "@daily", Snapshot: "@hourly"}, &upkeep.Options{Holder: "first"})
	if ran, err := k.RunDue(t.Context()); err != nil || len(ran) != 2 {
		t.Fatalf("RunDue = %v, %v, want both jobs", ran, err)
	}
	other := schedule(t, open(t, dir, &bank.Options{Embedder: tiny{8}}), bank.Specs{Decay: "@daily", Snapshot: "@hourly"}, nil)
	status, err := other.Status(t.Context())
	if err != nil || len(status) != 2 {
		t.Fatalf("Status = %v, %v, want two jobs", status, err)
	}
	for _, s := range status {
		if s.Last.Holder != "first" || s.Last.Error != "" || s.Last.Tick.IsZero() || !s.Next.After(s.Last.Tick) {
			t.Errorf("status = %+v, want the first scheduler's run and a tick to come", s)
		}
	}
	// Another process has the lease of the job: it is passed over.
	now := time.Now().UTC()
	if _, err := e.Lease(t.Context(), bank.JobPrefix+"decay", "another", now, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := k.RunNow(t.Context(), bank.JobPrefix+"decay"); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("RunNow of a job that another runs: %v, want Conflict", err)
	}
	// A decay run that another goes on with fails, and the report says so.
	if _, err := e.Lease(t.Context(), engine.DecayJob, "another", now, time.Hour); err != nil {
		t.Fatal(err)
	}
	failing := schedule(t, e, bank.Specs{Purge: "@daily"}, nil)
	if _, err := failing.RunDue(t.Context()); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("RunDue of a purge without its lease: %v, want Conflict", err)
	}
	runs, err := e.Runs(t.Context(), bank.JobPrefix+"purge", 1)
	if err != nil || len(runs) != 1 || runs[0].Status != "failed" || runs[0].Detail["error"] == "" {
		t.Errorf("run = %+v, %v, want one that failed, and why", runs, err)
	}
}

func TestUpkeepSpecs(t *testing.T) {
	e := open(t, t.TempDir(), &bank.Options{Embedder: tiny{8}})
	if _, err := bank.Upkeep(e, bank.Specs{Decay: "every day"}, nil); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("a bad spec: %v, want Invalid", err)
	}
	status, err := schedule(t, e, bank.Specs{Reconcile: "@weekly"}, nil).Status(t.Context())
	if err != nil || len(status) != 1 || status[0].Job != "upkeep/reconcile" || status[0].Spec != "@weekly" {
		t.Errorf("Status = %+v, %v, want the one job that has a spec", status, err)
	}
}

// The snapshot job follows what other processes wrote, and lets that rest too.
func TestUpkeepSnapshotFollows(t *testing.T) {
	dir := t.TempDir()
	keeper, writer := open(t, dir, nil), open(t, dir, nil)
	fill(t, writer, 3)
	if _, err := schedule(t, keeper, bank.Specs{Snapshot: "@hourly"}, nil).RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, _ := filepath.Glob(filepath.Join(dir, "*.snapshot")); len(m) != 2 {
		t.Errorf("snapshots = %v, want two", m)
	}
	if s := keeper.Stats(); s.Dense != 3 || s.Sparse != 3 {
		t.Errorf("Stats = %+v, want the three memories that the other wrote", s)
	}
	var q ledger.ListQuery
	q.Filter.Scope = ada(t)
	if page, err := keeper.List(t.Context(), q); err != nil || len(page.Memories) != 3 {
		t.Errorf("List = %d memories, %v, want 3", len(page.Memories), err)
	}
}
