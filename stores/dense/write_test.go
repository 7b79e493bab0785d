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
		if err := f.Delete(t.Context(), []memtypes.ID{numbered(n), numbered(n)}, uint64(100+n)); err != nil {
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
	if got := f.Len(); got != 7 {
		t.Errorf("Len = %d, want 7: all but the last three were forgotten", got)
	}
	for range 5 { // deleted and brought back: the grave of an earlier time must not remove it
		for n := range 4 {
			rev := f.places[numbered(n)].rev + 1
			if err := f.Delete(t.Context(), []memtypes.ID{numbered(n)}, rev); err != nil {
				t.Fatal(err)
			}
			if err := f.Upsert(t.Context(), []Doc{blank(t, n, rev+1)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := f.Len(); got != 7 {
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
			if err := f.Delete(t.Context(), []memtypes.ID{numbered(n)}, 2*round+2); err != nil {
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
	if err := f.Delete(t.Context(), []memtypes.ID{numbered(1)}, 9); err != nil {
		t.Fatal(err)
	}
	if err := f.Upsert(t.Context(), []Doc{blank(t, 1, 3)}); err != nil {
		t.Fatal(err)
	}
	if got := len(f.shards); got != 0 {
		t.Errorf("%d shards, want none", got)
	}
}
