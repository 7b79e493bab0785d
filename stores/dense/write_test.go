package dense

import (
	"fmt"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
)

func blank(t testing.TB, n int, rev uint64) Doc {
	return Doc{ID: numbered(n), Rev: rev, Facets: memtypes.Facets{Scope: scopeOf(t, "ann")}}
}

// TestDeletedIsBounded: the oldest deletions are forgotten first, and entries
// that no longer hold count as well.
func TestDeletedIsBounded(t *testing.T) {
	f, err := Open(2, &Options{Deleted: 3})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if err := f.Delete(t.Context(), gone(uint64(100+n), n, n)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(f.places) + len(f.graves); got != 6 {
		t.Errorf("%d places and %d graves, want 3 and 3", len(f.places), len(f.graves))
	}
	for n := range 10 {
		if err := f.Upsert(t.Context(), []Doc{blank(t, n, 50)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, f); got != 7 {
		t.Errorf("Len = %d, want 7: all but the last three were forgotten", got)
	}
	for range 5 { // deleted and brought back: the grave of an earlier time must not remove it
		for n := range 4 {
			rev := f.places[numbered(n)].rev + 1
			if err := f.Delete(t.Context(), gone(rev, n)); err != nil {
				t.Fatal(err)
			}
			if err := f.Upsert(t.Context(), []Doc{blank(t, n, rev+1)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := count(t, f); got != 7 {
		t.Errorf("Len = %d, want 7", got)
	}
}

// TestTenantsGo: a tenant whose last memory goes leaves nothing, and numbers
// of removed documents are given again.
func TestTenantsGo(t *testing.T) {
	f, err := Open(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for round := range uint64(3) {
		for n := range 100 {
			d := blank(t, n, 2*round+1)
			if d.Facets.Scope, err = memtypes.NewScope(fmt.Sprint("tenant", n%10), "ann", "", ""); err != nil {
				t.Fatal(err)
			}
			d.Text = memtypes.Vector{1, 0}
			if err := f.Upsert(t.Context(), []Doc{d}); err != nil {
				t.Fatal(err)
			}
		}
		for name, s := range f.shards {
			if len(s.ids) != 10 || len(s.free) != 0 {
				t.Errorf("%s: %d numbers, %d free, want 10 and 0", name, len(s.ids), len(s.free))
			}
		}
		for n := range 100 {
			if n%10 == 0 && n > 10 && round == 1 {
				continue // all but two of the first tenant stay
			}
			if err := f.Delete(t.Context(), gone(2*round+2, n)); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := len(f.shards), int(round%2); got != want {
			t.Errorf("round %d: %d shards, want %d", round, got, want)
		}
	}
}

func TestStaleBatchMakesNoShard(t *testing.T) {
	f, err := Open(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(t.Context(), gone(9, 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Upsert(t.Context(), []Doc{blank(t, 1, 3)}); err != nil {
		t.Fatal(err)
	}
	if got := len(f.shards); got != 0 {
		t.Errorf("%d shards, want none", got)
	}
}

// TestMovesToAnotherTenant: an ID that comes with another tenant is found there alone.
func TestMovesToAnotherTenant(t *testing.T) {
	f, err := Open(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := memtypes.NewScope("other", "ann", "", "")
	if err != nil {
		t.Fatal(err)
	}
	d := blank(t, 1, 1)
	d.Text = memtypes.Vector{1, 0}
	in := func(s memtypes.Scope) int {
		return len(found(t, f, Query{Vector: d.Text, K: 5, Filter: memtypes.Filter{Scope: s}}))
	}
	for _, step := range []struct {
		rev         uint64
		to          memtypes.Scope
		home, moved int
	}{{1, scopeOf(t, "ann"), 1, 0}, {3, other, 0, 1}, {2, scopeOf(t, "ann"), 0, 1}, {4, scopeOf(t, "ann"), 1, 0}} {
		d.Rev, d.Facets.Scope = step.rev, step.to
		if err := f.Upsert(t.Context(), []Doc{d}); err != nil {
			t.Fatal(err)
		}
		if a, b := in(scopeOf(t, "ann")), in(other); a != step.home || b != step.moved || count(t, f) != 1 {
			t.Errorf("after revision %d: %d at home, %d in the other tenant, %d in all; want %d, %d, 1", step.rev, a, b, count(t, f), step.home, step.moved)
		}
	}
}
