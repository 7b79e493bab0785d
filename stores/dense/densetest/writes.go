package densetest

import (
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

var (
	east  = unit(1)
	north = unit(0, 1)
)

func empty(t *testing.T, ix dense.Index) {
	wantIDs(t, ix, ask(t, east, 3))
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	upsert(t, ix) // nothing
	wantHeld(t, ix, map[memtypes.ID]uint64{})
}

func upsertReplaces(t *testing.T, ix dense.Index) {
	d := doc(t, 1, east)
	upsert(t, ix, d, doc(t, 2, unit(1, 1)))
	wantIDs(t, ix, ask(t, east, 2), id(1), id(2))

	d.Text, d.Facets.Session = north, "later" // the same revision again: a replay
	upsert(t, ix, d)
	wantIDs(t, ix, ask(t, east, 2), id(2), id(1))
	q := ask(t, east, 2)
	q.Filter.Session = "later"
	wantIDs(t, ix, q, id(1))

	d.Rev, d.Text, d.Facets.Session = 2, east, ""
	upsert(t, ix, d)
	wantIDs(t, ix, ask(t, east, 2), id(1), id(2))
	wantIDs(t, ix, q)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 2, id(2): 1})
}

func olderRevisionSkipped(t *testing.T, ix dense.Index) {
	d := doc(t, 1, east)
	d.Rev = 7
	upsert(t, ix, d)
	old := doc(t, 1, north)
	old.Rev = 6
	upsert(t, ix, old, doc(t, 2, unit(1, .1))) // the others of the batch go in
	hits := search(t, ix, ask(t, east, 1))
	if len(hits) != 1 || hits[0].ID != id(1) || hits[0].Score < 1-tolerance {
		t.Errorf("found %v, want %s with score 1: revision 6 must not replace 7", hits, id(1))
	}
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 7, id(2): 1})
}

func sameIDTwice(t *testing.T, ix dense.Index) {
	a, b, c := doc(t, 1, east), doc(t, 1, north), doc(t, 1, unit(0, 0, 1))
	a.Rev, b.Rev, c.Rev = 1, 3, 2
	upsert(t, ix, a, b, c)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 3})
	if hits := search(t, ix, ask(t, north, 5)); len(hits) != 1 || hits[0].Score < 1-tolerance {
		t.Errorf("found %v, want the vector of revision 3 alone", hits)
	}
}

func deleteAsOfRevision(t *testing.T, ix dense.Index) {
	for n := 1; n <= 3; n++ {
		d := doc(t, n, east)
		d.Rev = uint64(n)
		upsert(t, ix, d)
	}
	remove(t, ix, 2, id(1), id(2), id(3)) // 3 is newer than the deletion
	wantIDs(t, ix, ask(t, east, 5), id(3))
	wantHeld(t, ix, map[memtypes.ID]uint64{id(3): 3})

	late := doc(t, 1, east) // revision 1, after its deletion as of 2
	upsert(t, ix, late)
	wantIDs(t, ix, ask(t, east, 5), id(3))
	remove(t, ix, 1, id(1)) // an older deletion does not weaken the newer one
	upsert(t, ix, late)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(3): 3})

	late.Rev = 2 // not lower: a memory that was brought back
	upsert(t, ix, late)
	wantIDs(t, ix, ask(t, east, 5), id(1), id(3))
	remove(t, ix, 9, id(1), id(1), id(3))
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	upsert(t, ix, doc(t, 4, east)) // into the room that was left
	wantIDs(t, ix, ask(t, east, 5), id(4))
}

func deleteUnknown(t *testing.T, ix dense.Index) {
	remove(t, ix, 5, id(1))
	remove(t, ix, 5)
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	d := doc(t, 1, east) // overtaken by its own deletion
	d.Rev = 4
	upsert(t, ix, d)
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	d.Rev = 6
	upsert(t, ix, d)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 6})
}

func allOrNone(t *testing.T, ix dense.Index) {
	err := ix.Upsert(t.Context(), []dense.Doc{doc(t, 1, east), doc(t, 2, memtypes.Vector{1})})
	wantCode(t, err, memtypes.Invalid)
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	wantIDs(t, ix, ask(t, east, 2))
}

func noVector(t *testing.T, ix dense.Index) {
	blank := doc(t, 1, nil)
	beside := doc(t, 2, nil)
	beside.Context = east // not found either
	upsert(t, ix, blank, beside, doc(t, 3, unit(-1)))
	q := ask(t, east, 5)
	wantIDs(t, ix, q, id(3))
	q.Space = dense.Context
	wantIDs(t, ix, q, id(3))
	q.Filter.IDs = []memtypes.ID{id(1), id(2)}
	wantIDs(t, ix, q)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 1, id(2): 1, id(3): 1})

	blank.Rev, blank.Text = 2, east
	gone := doc(t, 3, nil)
	gone.Rev = 2
	upsert(t, ix, blank, gone) // one gains its vector, the other loses it
	wantIDs(t, ix, ask(t, east, 5), id(1))
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 2, id(2): 1, id(3): 2})
}

func moves(t *testing.T, ix dense.Index) {
	d := doc(t, 1, east)
	upsert(t, ix, d, doc(t, 2, north))
	d.Rev, d.Facets.Scope = 2, scope(t, "", "bob", "bot", "") // of the same tenant: an ID holds the tenant's name
	upsert(t, ix, d)
	wantIDs(t, ix, ask(t, east, 5), id(2))
	q := ask(t, east, 5)
	q.Filter.Scope = d.Facets.Scope
	wantIDs(t, ix, q, id(1))
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 2, id(2): 1})

	d.Rev, d.Facets.Scope = 1, scope(t, "", "ann", "", "")
	upsert(t, ix, d) // too old to move back
	wantIDs(t, ix, q, id(1))
	remove(t, ix, 3, id(1))
	wantIDs(t, ix, q)
	wantHeld(t, ix, map[memtypes.ID]uint64{id(2): 1})
}

func revs(t *testing.T, ix dense.Index) {
	want := map[memtypes.ID]uint64{}
	for n := range 300 {
		d := doc(t, n, unit(1, float64(n)))
		d.Rev = uint64(n + 1)
		upsert(t, ix, d)
		want[d.ID] = d.Rev
	}
	wantHeld(t, ix, want)
	n := 0
	for _, err := range ix.Revs(t.Context()) { // stops when told, and may be interleaved with writes
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
		remove(t, ix, 1000, id(n))
		delete(want, id(n))
	}
	wantHeld(t, ix, want)
}
