package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// sittings fills a ledger with sessions of random lengths, some turns of which
// are retired, and notes without a session.
func sittings(t *testing.T, r *rand.Rand) (ledger.Ledger, []memtypes.ID) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	scope, err := memtypes.NewScope("", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	b := ledger.Batch{Now: start, Actor: "test"}
	var ids []memtypes.ID
	for s := range 5 {
		for i := range r.IntN(200) {
			d := memtypes.Draft{Scope: scope, Kind: memtypes.Dialogue, Text: fmt.Sprintf("turn %d of %d", i, s), Event: start.Add(time.Duration(i/2) * time.Minute)}
			if d.Talk.Session = fmt.Sprint("s", s); s == 4 {
				d.Talk.Session = ""
			}
			m, err := memtypes.New(d, start)
			if err != nil {
				t.Fatal(err)
			}
			b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: m})
			ids = append(ids, m.ID)
		}
	}
	for _, e := range b.Edits {
		if r.IntN(10) == 0 {
			b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Retire, Memory: e.Memory})
		}
	}
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return db, ids
}

// Whatever changes, the memories within reach of it are projected once, each
// with the whole of its context.
func TestAffected(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		l, ids := sittings(t, r)
		e := &Engine{parts: Parts{Ledger: l}}
		for range 10 {
			changed := map[memtypes.ID]bool{}
			var list []memtypes.ID
			from, n := r.IntN(len(ids)), 1+r.IntN(60)
			for range n {
				id := ids[r.IntN(len(ids))]
				if seed%2 == 0 { // a run of turns, as an import has it
					id, from = ids[from%len(ids)], from+1
				}
				if !changed[id] {
					changed[id] = true
					list = append(list, id)
				}
			}
			checkAffected(t, e, list)
		}
	}
}

func checkAffected(t *testing.T, e *Engine, list []memtypes.ID) {
	t.Helper()
	reach, err := e.affected(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	got := map[memtypes.ID]bool{}
	for _, p := range reach.ps {
		m := p.memory()
		if got[m.ID] {
			t.Errorf("%s is projected twice", m.Text)
		}
		got[m.ID] = true
		have, _ := p.around(contextReach)
		want, err := e.parts.Ledger.Around(t.Context(), m.ID, contextReach)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(texts(want), texts(have)); d != "" {
			t.Errorf("the context of %s (-want +got):\n%s", m.Text, d)
		}
	}
	gone := map[memtypes.ID]bool{}
	for _, id := range reach.dead {
		gone[id] = true
	}
	for _, id := range list {
		near, err := e.parts.Ledger.Around(t.Context(), id, contextReach)
		if err != nil {
			t.Fatal(err)
		}
		if active := place(near, id) >= 0; active == gone[id] {
			t.Errorf("%s: active %v, named dead %v", id, active, gone[id])
		}
		for i := range near {
			if !got[near[i].ID] {
				t.Errorf("%s is not projected, beside a change", near[i].Text)
			}
		}
	}
}

func texts(ms []memtypes.Memory) (out []string) {
	for i := range ms {
		out = append(out, ms[i].Text)
	}
	return out
}
