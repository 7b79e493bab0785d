package fusion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestFold: which two memories a reader needs only one of.
func TestFold(t *testing.T) {
	base := map[memtypes.Kind]memtypes.Memory{}
	for _, k := range memtypes.Kinds() {
		m := memory("a", k, "The keys hang there.", 0)
		m.Talk = memtypes.Talk{Speaker: "Ann", Session: "s1"}
		m.Title = "Harbour"
		m.Task = &memtypes.Task{
			Commands: []memtypes.Command{{Name: "go", Args: []string{"desk"}}}, Result: "ok", Outcome: memtypes.Success, Observation: "a desk",
		}
		base[k] = m
	}
	task := func(change func(*memtypes.Task)) func(*memtypes.Memory) {
		return func(m *memtypes.Memory) {
			t := *m.Task
			change(&t)
			m.Task = &t
		}
	}
	for _, tt := range []struct {
		name   string
		kind   memtypes.Kind
		change func(*memtypes.Memory)
		same   bool
	}{
		{"all is equal", memtypes.Knowledge, func(*memtypes.Memory) {}, true},
		{"case, spaces and signs", memtypes.Knowledge, func(m *memtypes.Memory) { m.Text = " the KEYS -- hang\nthere" }, true},
		{"another word", memtypes.Knowledge, func(m *memtypes.Memory) { m.Text = "The keys hung there." }, false},
		{"words run together", memtypes.Knowledge, func(m *memtypes.Memory) { m.Text = "The key s hang there." }, false},
		{"another layer", memtypes.Knowledge, func(m *memtypes.Memory) { m.Layer = memtypes.Thought }, false},
		{"another kind", memtypes.Knowledge, func(m *memtypes.Memory) { m.Kind = memtypes.Dialogue }, false},
		{"another title", memtypes.Knowledge, func(m *memtypes.Memory) { m.Title = "Library" }, false},
		{"a title in other letters", memtypes.Knowledge, func(m *memtypes.Memory) { m.Title = "HARBOUR!" }, true},
		{"knowledge has no time", memtypes.Knowledge, func(m *memtypes.Memory) { m.Event = noon.Add(-99 * day) }, true},
		{"another speaker", memtypes.Dialogue, func(m *memtypes.Memory) { m.Talk.Speaker = "Bo" }, false},
		{"another sitting", memtypes.Dialogue, func(m *memtypes.Memory) { m.Talk.Session = "s2" }, false},
		{"later in the sitting", memtypes.Dialogue, func(m *memtypes.Memory) { m.Event = noon.Add(30 * time.Hour) }, true},
		{"another outcome", memtypes.TaskKind, task(func(t *memtypes.Task) { t.Outcome = memtypes.Failure }), false},
		{"another result", memtypes.TaskKind, task(func(t *memtypes.Task) { t.Result = "done" }), false},
		{"other steps", memtypes.TaskKind, task(func(t *memtypes.Task) { t.Commands = nil }), false},
		{"other surroundings", memtypes.TaskKind, task(func(t *memtypes.Task) { t.Observation = "a bed" }), false},
		{"another id of the run", memtypes.TaskKind, task(func(t *memtypes.Task) { t.TaskID = "77" }), true},
		{"no record", memtypes.TaskKind, func(m *memtypes.Memory) { m.Task = nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, second := base[tt.kind], base[tt.kind]
			second.ID = "b"
			tt.change(&second)
			got := fusion.Rank(fusion.Query{}, []fusion.Candidate{candidate(first, 2, 0), candidate(second, 1, 0)}, fusion.BM25, nil)
			if (len(got) == 1) != tt.same {
				t.Fatalf("hits %v, want one for both: %v", ids(got), tt.same)
			}
			if tt.same {
				if d := cmp.Diff([]memtypes.ID{"b"}, got[0].Same); d != "" || got[0].Memory.ID != "a" {
					t.Errorf("kept %s with Same (-want +got):\n%s", got[0].Memory.ID, d)
				}
			}
		})
	}
}

// TestFoldByDay: outside a sitting, the day keeps sayings apart.
func TestFoldByDay(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("noon", memtypes.Dialogue, "ok", 0), 4, 0),
		candidate(memory("morning", memtypes.Dialogue, "OK!", 4*time.Hour), 3, 0),
		candidate(memory("yesterday", memtypes.Dialogue, "ok", day), 2, 0),
	}
	got := fusion.Rank(fusion.Query{}, cands, fusion.BM25, nil)
	if d := cmp.Diff([]string{"noon", "yesterday"}, ids(got)); d != "" {
		t.Errorf("hits (-want +got):\n%s", d)
	}
}

// TestFoldSigns: what is nothing but signs is told apart by them.
func TestFoldSigns(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("a", memtypes.Knowledge, "🙂", 0), 2, 0),
		candidate(memory("b", memtypes.Knowledge, "🙁", 0), 1, 0),
	}
	if got := fusion.Rank(fusion.Query{}, cands, fusion.BM25, nil); len(got) != 2 {
		t.Errorf("hits %v, want both", ids(got))
	}
}
