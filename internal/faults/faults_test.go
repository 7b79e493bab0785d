package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/faults"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

// What the engine's tests take for a service keeps the promises of one.
func TestContract(t *testing.T) {
	open := func(t testing.TB) dense.Index {
		ix, err := faults.NewDense(densetest.Dim).Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	t.Run("shared", func(t *testing.T) { densetest.RunShared(t, open) })
	t.Run("words", func(t *testing.T) {
		sparsetest.Run(t, func(t testing.TB) sparse.Index {
			ix, err := faults.NewSparse().Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			return ix
		})
	})
}

func doc(t testing.TB, id memtypes.ID, rev uint64) dense.Doc {
	t.Helper()
	scope, err := memtypes.NewScope("", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return dense.Doc{ID: id, Rev: rev, Facets: memtypes.Facets{Scope: scope, Kind: memtypes.Dialogue, Layer: memtypes.Raw}, Text: memtypes.Vector{1, 0}}
}

func held(t testing.TB, ix dense.Index) map[memtypes.ID]uint64 {
	t.Helper()
	out := map[memtypes.ID]uint64{}
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out[h.ID] = h.Rev
	}
	return out
}

func TestSwitches(t *testing.T) {
	ctx := t.Context()
	s := faults.NewDense(2)
	ix, err := s.Open(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := func(what string, err error, code memtypes.Code) {
		t.Helper()
		if err == nil && code != "" || err != nil && memtypes.CodeOf(err) != code {
			t.Errorf("%s: %v, want %q", what, err, code)
		}
	}
	s.Down(true)
	want("down", ix.Upsert(ctx, []dense.Doc{doc(t, "x", 1)}), memtypes.Unavailable)
	s.Down(false)
	s.Lose(1)
	want("lost", ix.Upsert(ctx, []dense.Doc{doc(t, "x", 1)}), memtypes.Unavailable)
	if n := held(t, ix)["x"]; n != 1 {
		t.Errorf("a write whose answer was lost is held as %d, want 1", n)
	}
	s.Refuse("y", memtypes.Invalid)
	s.Record()
	want("refused", ix.Upsert(ctx, []dense.Doc{doc(t, "y", 2), doc(t, "z", 3)}), memtypes.Unavailable)
	if h := held(t, ix); h["y"] != 0 || h["z"] != 3 {
		t.Errorf("held = %v, want z alone", h)
	}
	then := s.Snapshot()
	want("delete", ix.Delete(ctx, []memtypes.Gone{{ID: "z", Rev: 4}}), "")
	if err := s.Replay(); err != nil || held(t, ix)["z"] != 0 {
		t.Errorf("a late duplicate brought z back: %v, %v", held(t, ix), err)
	}
	if err := s.Restore(then); err != nil || held(t, ix)["z"] != 3 {
		t.Errorf("restored: %v, %v, want z back", held(t, ix), err)
	}
	release := s.Hang()
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	want("hanging", ix.Upsert(short, nil), memtypes.Canceled)
	release()
	want("released", ix.Upsert(ctx, nil), "")
}

func TestKillAt(t *testing.T) {
	if f, err := faults.KillAt(""); f != nil || err != nil {
		t.Errorf("KillAt of nothing = %v, want nothing", err)
	}
	for _, spec := range []string{"claimed", ":kill", "claimed:stop"} {
		if _, err := faults.KillAt(spec); memtypes.CodeOf(err) != memtypes.Invalid {
			t.Errorf("KillAt(%q): %v, want Invalid", spec, err)
		}
	}
	f, err := faults.KillAt("claimed:kill")
	if err != nil {
		t.Fatal(err)
	}
	f("settled") // another point: the test goes on
}
