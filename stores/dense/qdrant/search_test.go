package qdrant_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// TestTiesAtTheCut: of many equal vectors those with the lowest IDs are found,
// whichever the server sends first, and also where the tie spans both vectors.
func TestTiesAtTheCut(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		ix := made(t, open(t, addr, qdrant.Options{}), "one")
		var all []dense.Doc
		for n := range 400 {
			d := doc(t, n, 1)
			d.Text = unit(1, 1)
			if n%3 == 0 {
				d.Text, d.Context = unit(-1), unit(1, 1)
			}
			all = append(all, d)
		}
		better := doc(t, 900, 1)
		better.Text = unit(1)
		slices.Reverse(all)
		must(t, ix.Upsert(t.Context(), append(all, better)))
		wantFound(t, ix, ask(t, 5), 900, 1, 2, 4, 5)
		q := ask(t, 6)
		q.Space = dense.Context
		wantFound(t, ix, q, 900, 0, 1, 2, 3, 4)
	})
}

// TestLargeK: a K beyond everything is everything, once.
func TestLargeK(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		ix := made(t, open(t, addr, qdrant.Options{}), "one")
		must(t, ix.Upsert(t.Context(), docs(t, 30)))
		must(t, ix.Delete(t.Context(), gone(9, 29)))
		for _, k := range []int{memtypes.MaxK, 1 << 40} {
			if got := len(found(t, ix, ask(t, k))); got != 29 {
				t.Errorf("K %d: found %d, want 29", k, got)
			}
		}
		q := ask(t, 1<<40)
		q.Filter.Scope = scope(t, "", "nobody", "", "")
		wantFound(t, ix, q)
	})
}

// TestFilterMutations proves that the checks of filters can fail: with any one
// condition taken out of what is sent, an answer differs from what
// memtypes.Filter says.
func TestFilterMutations(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		var drop string // the key of the condition to take out
		o := qdrant.Options{}
		o.Intercept(func(req any) { mutate(req, drop) })
		ix := made(t, open(t, addr, o), "one")
		all := varied(t)
		must(t, ix.Upsert(t.Context(), all))
		must(t, ix.Delete(t.Context(), gone(9, 500, 501)))
		if err := agrees(t, ix, all); err != nil {
			t.Fatalf("as it is: %v", err)
		}
		for _, drop = range []string{"tenant", "user", "agent", "run", "kind", "layer", "session", "when", "has_id", "gone", "has_vector"} {
			if agrees(t, ix, all) == nil {
				t.Errorf("without the condition on %s nothing is noticed", drop)
			}
		}
	})
}

// TestConditionMutation proves the same of writes: without the condition that
// is sent along, an older write replaces a newer one.
func TestConditionMutation(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		for _, without := range []bool{false, true} {
			o := qdrant.Options{}
			o.Intercept(func(req any) {
				if r, ok := req.(*qc.UpsertPoints); ok && without {
					r.UpdateFilter = nil
				}
			})
			ix := made(t, open(t, addr, o), "one")
			must(t, ix.Upsert(t.Context(), []dense.Doc{doc(t, 1, 9)}))
			must(t, ix.Upsert(t.Context(), []dense.Doc{doc(t, 1, 8)}))
			for h, err := range ix.Revs(t.Context()) {
				must(t, err)
				if older := h.Rev == 8; older != without {
					t.Errorf("without the condition: %v; revision %d is held after 9 and then 8", without, h.Rev)
				}
			}
		}
	})
}

// mutate takes every condition on key out of a request.
func mutate(req any, key string) {
	var filters []*qc.Filter
	switch r := req.(type) {
	case *qc.QueryBatchPoints:
		for _, q := range r.GetQueryPoints() {
			filters = append(filters, q.GetFilter())
		}
	case *qc.CountPoints:
		filters = append(filters, r.GetFilter())
	case *qc.ScrollPoints:
		filters = append(filters, r.GetFilter())
	}
	is := func(c *qc.Condition) bool {
		return c.GetField().GetKey() == key && key != "" ||
			key == "has_id" && c.GetHasId() != nil || key == "has_vector" && c.GetHasVector() != nil
	}
	for _, f := range filters {
		f.Must, f.MustNot = slices.DeleteFunc(f.Must, is), slices.DeleteFunc(f.MustNot, is)
	}
}

// varied is documents that differ from the first in one facet each.
func varied(t testing.TB) []dense.Doc {
	base := memtypes.Facets{Scope: scope(t, "t", "u", "a", "r"), Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: "s", When: time.Unix(100, 0)}
	var out []dense.Doc
	for n, change := range []func(*memtypes.Facets){
		func(*memtypes.Facets) {},
		func(f *memtypes.Facets) { f.Scope = scope(t, "other", "u", "a", "r") },
		func(f *memtypes.Facets) { f.Scope = scope(t, "t", "other", "a", "r") },
		func(f *memtypes.Facets) { f.Scope = scope(t, "t", "u", "other", "r") },
		func(f *memtypes.Facets) { f.Scope = scope(t, "t", "u", "a", "other") },
		func(f *memtypes.Facets) { f.Kind = memtypes.TaskKind },
		func(f *memtypes.Facets) { f.Layer = memtypes.Thought },
		func(f *memtypes.Facets) { f.Session = "other" },
		func(f *memtypes.Facets) { f.When = time.Unix(200, 0) },
		func(*memtypes.Facets) {},
	} {
		d := dense.Doc{ID: id(n), Rev: 1, Facets: base, Text: unit(1, float64(n))}
		change(&d.Facets)
		if n%2 == 0 {
			d.Context = unit(float64(n), -1)
		}
		out = append(out, d)
	}
	for n := range 20 { // the nearest by their text, far by their context
		out = append(out, dense.Doc{ID: id(100 + n), Rev: 1, Facets: base, Text: unit(1, .3+float64(n)/50), Context: unit(-1, float64(20-n))})
		out[len(out)-1].Facets.Session = "far"
	}
	return out
}

// agrees compares what ix answers with a loop over docs.
func agrees(t testing.TB, ix dense.Index, docs []dense.Doc) error {
	f := memtypes.Filter{
		Scope: scope(t, "t", "u", "a", "r"), Kinds: []memtypes.Kind{memtypes.Dialogue}, Layers: []memtypes.Layer{memtypes.Raw},
		Session: "s", From: time.Unix(50, 0), To: time.Unix(150, 0),
	}
	for n := range 9 { // all but the last
		f.IDs = append(f.IDs, id(n))
	}
	for _, space := range []dense.Space{dense.Text, dense.Context} {
		for _, q := range []dense.Query{{K: 50, Filter: f}, {K: 50, Filter: memtypes.Filter{Scope: f.Scope}}, {K: 1, Filter: memtypes.Filter{Scope: f.Scope}}} {
			q.Vector, q.Space = unit(1, .3), space
			if err := same(t, ix, q, docs); err != nil {
				return err
			}
		}
	}
	n, err := ix.Len(t.Context())
	must(t, err)
	held := 0
	for _, err := range ix.Revs(t.Context()) {
		must(t, err)
		held++
	}
	if n != len(docs) || held != len(docs) {
		return fmt.Errorf("%d counted and %d listed, want %d", n, held, len(docs))
	}
	return nil
}

// same compares the K nearest with those of a loop.
func same(t testing.TB, ix dense.Index, q dense.Query, docs []dense.Doc) error {
	var want []memtypes.Scored
	for _, d := range docs {
		v := d.Text
		if q.Space == dense.Context && d.Context != nil {
			v = d.Context
		}
		if q.Filter.Admits(d.ID, d.Facets) {
			want = append(want, memtypes.Scored{ID: d.ID, Score: dot(q.Vector, v)})
		}
	}
	slices.SortFunc(want, func(a, b memtypes.Scored) int {
		if a.Score-b.Score > 1e-5 || b.Score-a.Score > 1e-5 {
			return cmp.Compare(b.Score, a.Score)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	want = want[:min(q.K, len(want))]
	got, err := ix.Search(t.Context(), q)
	must(t, err)
	if !slices.EqualFunc(got, want, func(a, b memtypes.Scored) bool {
		return a.ID == b.ID && a.Score-b.Score < 1e-4 && b.Score-a.Score < 1e-4
	}) {
		return fmt.Errorf("found %v, want %v", got, want)
	}
	return nil
}

func dot(a, b memtypes.Vector) float64 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}
