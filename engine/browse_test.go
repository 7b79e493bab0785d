package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// texts lists every memory of q, two a page.
func texts(t *testing.T, e *engine.Engine, q ledger.ListQuery) []string {
	t.Helper()
	var out []string
	for q.Limit = 2; ; {
		page, err := e.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Memories) > q.Limit {
			t.Fatalf("a page of %d, want at most %d", len(page.Memories), q.Limit)
		}
		for _, m := range page.Memories {
			out = append(out, m.Text)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
	}
}

func TestList(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada, bob := user(t, "ada"), user(t, "bob")
	remember(t, e, said(t, "third", 3), said(t, "first", 1), said(t, "second", 2),
		memtypes.Draft{Scope: ada, Kind: memtypes.Knowledge, Text: "a fact", Event: noon},
		memtypes.Draft{Scope: bob, Kind: memtypes.Knowledge, Text: "not Ada's", Event: noon})
	gone := remember(t, e, said(t, "forgotten", 4))[0].ID
	if err := e.Forget(t.Context(), ada, "", gone); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		query ledger.ListQuery
		want  []string
	}{
		"all":     {ledger.ListQuery{}, []string{"first", "second", "third", "a fact"}},
		"kind":    {ledger.ListQuery{Filter: memtypes.Filter{Kinds: []memtypes.Kind{memtypes.Knowledge}}}, []string{"a fact"}},
		"session": {ledger.ListQuery{Filter: memtypes.Filter{Session: "s1"}}, []string{"first", "second", "third"}},
		"from":    {ledger.ListQuery{Filter: memtypes.Filter{From: said(t, "", 3).Event}}, []string{"third", "a fact"}},
		"to":      {ledger.ListQuery{Filter: memtypes.Filter{To: said(t, "", 2).Event}}, []string{"first"}},
		"retired": {ledger.ListQuery{States: []memtypes.State{memtypes.Retired}}, []string{"forgotten"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.query.Filter.Scope = ada
			got := texts(t, e, tt.query)
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("List (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := e.List(t.Context(), ledger.ListQuery{All: true}); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("List of everybody's: got %v, want Invalid", err)
	}
	if _, err := e.List(t.Context(), ledger.ListQuery{}); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("List without a scope: got %v, want Invalid", err)
	}
}

func TestPinAndUnpin(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	id := remember(t, e, said(t, "My passport number ends in 77.", 0))[0].ID
	for _, want := range []bool{true, true, false} {
		if err := e.Pin(t.Context(), ada, id, want); err != nil {
			t.Fatal(err)
		}
		if m, err := e.Get(t.Context(), ada, id); err != nil || m.Strength.Pinned != want {
			t.Errorf("pinned = %v, %v, want %v", m.Strength.Pinned, err, want)
		}
	}
	if err := e.Pin(t.Context(), user(t, "bob"), id, true); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Pin of another's memory: got %v, want NotFound", err)
	}
}

// A question can be held to kinds, a session, a range of time and a number.
func TestRecallFilters(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	turn := func(session string, day int) memtypes.Draft {
		return memtypes.Draft{Scope: ada, Kind: memtypes.Dialogue, Text: "We spoke of the harbour in " + session + ".",
			Talk: memtypes.Talk{Session: session, Speaker: "Ada"}, Event: noon.AddDate(0, 0, -day)}
	}
	remember(t, e, turn("march", 60), turn("april", 30), turn("may", 1),
		memtypes.Draft{Scope: ada, Kind: memtypes.Knowledge, Text: "The harbour has two piers.", Event: noon},
		memtypes.Draft{Scope: ada, Kind: memtypes.TaskKind, Text: "Draw a map of the harbour.", Event: noon, Task: &memtypes.Task{Outcome: memtypes.Success}})
	for name, tt := range map[string]struct {
		query memtypes.Query
		want  int
	}{
		"all":       {memtypes.Query{}, 5},
		"one":       {memtypes.Query{K: 1}, 1},
		"kinds":     {memtypes.Query{Kinds: []memtypes.Kind{memtypes.Knowledge, memtypes.TaskKind}}, 2},
		"a session": {memtypes.Query{Session: "april"}, 1},
		"since":     {memtypes.Query{From: noon.AddDate(0, 0, -40), Kinds: []memtypes.Kind{memtypes.Dialogue}}, 2},
		"until":     {memtypes.Query{To: noon.AddDate(0, 0, -40)}, 1},
	} {
		for _, p := range fusion.Profiles() {
			t.Run(name+" by "+string(p), func(t *testing.T) {
				q := tt.query
				q.Scope, q.Text, q.Profile, q.Quiet = ada, "harbour", string(p), true
				a, err := e.Recall(t.Context(), q)
				if err != nil || len(a.Hits) != tt.want {
					t.Fatalf("got %d hits, %v, want %d", len(a.Hits), err, tt.want)
				}
				for i, h := range a.Hits {
					sum := 0.0
					for _, r := range h.Reasons {
						sum += r.Points
					}
					if h.Score < 0 || h.Score > 1 || sum < h.Score-1e-9 || sum > h.Score+1e-9 || i > 0 && h.Score > a.Hits[i-1].Score {
						t.Errorf("hit %d: score %v, reasons sum to %v, want them equal, in [0,1] and descending", i, h.Score, sum)
					}
				}
			})
		}
	}
}

// The retention of a hit is the curve at the time of the question.
func TestRecallSaysRetention(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	remember(t, e, said(t, "The lighthouse blinks twice.", 0))
	a, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: "lighthouse", Quiet: true, Now: noon.Add(24 * time.Hour)})
	if err != nil || len(a.Hits) != 1 {
		t.Fatalf("hits = %v, %v, want one", a, err)
	}
	if got := a.Hits[0].Retention; got < .3678 || got > .3680 {
		t.Errorf("retention a day later = %v, want 1/e", got)
	}
}

// A purge takes what is past its grace, and nothing that is only due.
func TestPurgeRetiresNothing(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	rs := remember(t, e, said(t, "An old remark.", 0), said(t, "A forgotten remark.", 1))
	if err := e.Forget(t.Context(), ada, "", rs[1].ID); err != nil {
		t.Fatal(err)
	}
	later := noon.AddDate(1, 0, 0)
	r, err := e.Purge(t.Context(), engine.DecayRequest{Now: later, Confirm: true})
	if err != nil || r.Retired != 0 || r.Purged != 1 {
		t.Errorf("Purge = %+v, %v, want one purged, none retired", r, err)
	}
	if got := texts(t, e, ledger.ListQuery{Filter: memtypes.Filter{Scope: ada}}); !slices.Equal(got, []string{"An old remark."}) {
		t.Errorf("left = %q, want the remark that is only due", got)
	}
}

// Jobs are run by one process at a time: the lease is the ledger's.
func TestLeaseAndRecord(t *testing.T) {
	dir := t.TempDir()
	one, two := open(t, dir, nil), open(t, dir, nil)
	l, err := one.Lease(t.Context(), "tidy", "one", noon, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Lease(t.Context(), "tidy", "two", noon, time.Minute); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("a second holder: got %v, want Conflict", err)
	}
	run := ledger.Run{ID: "tidy-1", Job: "tidy", Actor: "one", Status: "done", Started: noon, Ended: noon}
	if err := one.Record(t.Context(), l, run); err != nil {
		t.Fatal(err)
	}
	if runs, err := two.Runs(t.Context(), "tidy", 5); err != nil || len(runs) != 1 || runs[0].ID != "tidy-1" {
		t.Errorf("Runs = %+v, %v, want the one recorded", runs, err)
	}
	if err := one.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Lease(t.Context(), "tidy", "two", noon, time.Minute); err != nil {
		t.Errorf("after the release: %v, want the lease", err)
	}
	if err := one.Record(t.Context(), l, run); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("a record under a lost lease: got %v, want Conflict", err)
	}
}

// Without an embedder words find, and the recall says nothing of a fault.
func TestWordsOnly(t *testing.T) {
	e := open(t, t.TempDir(), &bank.Options{WordsOnly: true})
	remember(t, e, said(t, "The lighthouse blinks twice.", 0))
	a := recall(t, e, user(t, "ada"), "lighthouse")
	if len(a.Hits) != 1 || len(a.Degraded) != 0 {
		t.Errorf("hits %d, degraded %v, want one hit and nothing degraded", len(a.Hits), a.Degraded)
	}
}

// A snapshot while in use lets the next engine start where this one stood.
func TestSnapshotWhileInUse(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	remember(t, e, said(t, "The lighthouse blinks twice.", 0))
	if err := e.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := open(t, dir, nil)
	if got, want := other.Stats(), e.Stats(); got.DenseMark != want.DenseMark || got.Dense != 1 || got.Sparse != 1 {
		t.Errorf("stats = %+v, want mark %d and one memory in each index", got, want.DenseMark)
	}
	if a := recall(t, other, user(t, "ada"), "lighthouse"); len(a.Hits) != 1 {
		t.Errorf("hits = %d, want 1", len(a.Hits))
	}
}
