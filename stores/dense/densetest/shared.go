package densetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// RunShared checks what an index promises besides that several processes feed:
// Doc.Cause counts as Doc.Rev does, and writes and removals may come in any
// order, several times and at once. What open makes is as for Run.
func RunShared(t *testing.T, open func(testing.TB) dense.Index) {
	for _, c := range []struct {
		name string
		test func(*testing.T, dense.Index)
	}{
		{"CauseCountsAsRev", causes},
		{"RemovalsAndCauses", removalsAndCauses},
		{"AnyOrder", anyOrder},
		{"AtOnce", atOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := open(t)
			t.Cleanup(func() { ix.Close() })
			c.test(t, ix)
		})
	}
}

// causes: of two docs of one revision the one made for the later change holds.
func causes(t *testing.T, ix dense.Index) {
	made := func(rev, cause uint64, v memtypes.Vector) dense.Doc {
		d := doc(t, 1, east)
		d.Rev, d.Cause, d.Context = rev, cause, v
		return d
	}
	q := ask(t, north, 1)
	q.Space = dense.Context
	for _, step := range []struct {
		rev, cause uint64
		context    memtypes.Vector
		holds      bool
	}{
		{3, 0, unit(0, -1), true},
		{3, 9, north, true},
		{3, 7, unit(0, -1), false}, // late
		{3, 0, unit(0, -1), false},
		{3, 9, north, true}, // again
		{8, 0, unit(0, -1), false},
		{9, 0, north, true}, // as new
		{9, 12, unit(0, -1), true},
		{13, 0, north, true},
	} {
		upsert(t, ix, made(step.rev, step.cause, step.context))
		hits := search(t, ix, q)
		if len(hits) != 1 {
			t.Fatalf("found %v, want one", hits)
		}
		want := cosine(q.Vector, step.context)
		if got := hits[0].Score; (got > want-tolerance && got < want+tolerance) != step.holds {
			t.Errorf("revision %d for change %d: score = %v, that of the doc is %v; want them equal: %v", step.rev, step.cause, got, want, step.holds)
		}
	}
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 13})
}

// removalsAndCauses: a removal is compared with the higher of both as well.
func removalsAndCauses(t *testing.T, ix dense.Index) {
	d := doc(t, 1, east)
	d.Rev, d.Cause = 3, 9
	upsert(t, ix, d)
	remove(t, ix, 8, d.ID)
	wantHeld(t, ix, map[memtypes.ID]uint64{d.ID: 3})
	remove(t, ix, 10, d.ID)
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	upsert(t, ix, d) // a late duplicate
	wantHeld(t, ix, map[memtypes.ID]uint64{})
	wantIDs(t, ix, ask(t, east, 1))
	d.Cause = 11
	upsert(t, ix, d)
	wantHeld(t, ix, map[memtypes.ID]uint64{d.ID: 3})
}

// change is one write or removal of a memory.
type change struct {
	doc  dense.Doc
	gone bool
}

// changes is the history of a memory with a change for each of the numbers 1 to n.
func changes(t testing.TB, memory, n int, gone func(int) bool) []change {
	out := make([]change, n)
	for i := range out {
		d := doc(t, memory, unit(1, float64(i)))
		d.Rev = uint64(i + 1)
		out[i] = change{d, gone(i)}
	}
	return out
}

func apply(ctx context.Context, ix dense.Index, c change) error {
	if c.gone {
		return ix.Delete(ctx, gone(c.doc.Facets.Scope.Tenant(), c.doc.Rev, c.doc.ID))
	}
	return ix.Upsert(ctx, []dense.Doc{c.doc})
}

// anyOrder: whatever the order and however often, the last change holds.
func anyOrder(t *testing.T, ix dense.Index) {
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		n := rapid.IntRange(1, 6).Draw(r, "changes")
		mask := rapid.IntRange(0, 1<<n-1).Draw(r, "removals")
		history := changes(t, round, n, func(i int) bool { return mask>>i&1 == 1 })
		order := make([]int, 0, 2*n)
		for i := range n {
			order = append(order, i, i)
		}
		for _, i := range rapid.Permutation(order).Draw(r, "order") {
			if err := apply(context.Background(), ix, history[i]); err != nil {
				r.Fatalf("change %d: %v", i, err)
			}
		}
		last := history[n-1]
		q := ask(t, last.doc.Text, 1)
		q.Filter.IDs = []memtypes.ID{last.doc.ID}
		hits, err := ix.Search(context.Background(), q)
		if err != nil {
			r.Fatalf("Search: %v", err)
		}
		if held := len(hits) == 1 && hits[0].Score > 1-tolerance; held == last.gone || last.gone && len(hits) > 0 {
			r.Fatalf("found %v, want the memory as of change %d (removed: %v)", hits, n, last.gone)
		}
	})
}

// atOnce: several writers send the same histories, each in an order of its own.
func atOnce(t *testing.T, ix dense.Index) {
	const memories, versions, writers = 12, 8, 4
	var all []change
	want := map[memtypes.ID]uint64{}
	for m := range memories {
		history := changes(t, m, versions, func(i int) bool { return (i+m)%3 == 0 })
		all = append(all, history...)
		if last := history[versions-1]; !last.gone {
			want[last.doc.ID] = last.doc.Rev
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for _, i := range r.Perm(len(all)) {
				if err := apply(t.Context(), ix, all[i]); err != nil {
					errs[w] = fmt.Errorf("change %d of %s: %w", all[i].doc.Rev, all[i].doc.ID, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	wantHeld(t, ix, want)
}
