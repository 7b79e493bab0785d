package densetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// exact is what q must find among docs, by a plain loop.
func exact(docs []dense.Doc, q dense.Query) []memtypes.Scored {
	var all []memtypes.Scored
	for _, d := range docs {
		v := d.Text
		if q.Space == dense.Context && d.Text != nil && d.Context != nil {
			v = d.Context
		}
		if v != nil && q.Filter.Admits(d.ID, d.Facets) {
			all = append(all, memtypes.Scored{ID: d.ID, Score: cosine(q.Vector, v)})
		}
	}
	slices.SortFunc(all, func(a, b memtypes.Scored) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return all
}

// agree checks that ix answers q as a plain loop over docs does. Hits whose
// scores are within the tolerance may stand in each other's place.
func agree(t failer, ix dense.Index, q dense.Query, docs []dense.Doc) {
	t.Helper()
	got, err := ix.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	all := exact(docs, q)
	scores := map[memtypes.ID]float64{}
	for _, h := range all {
		scores[h.ID] = h.Score
	}
	if want := min(q.K, len(all)); len(got) != want {
		t.Fatalf("found %d hits, want %d of %d (filter %+v)\ngot  %v\nwant %v", len(got), want, len(all), q.Filter, got, all)
	}
	for i, h := range got {
		want, ok := scores[h.ID]
		if !ok {
			t.Errorf("hit %d: %s is not admitted, or twice (filter %+v)", i, h.ID, q.Filter)
			continue
		}
		delete(scores, h.ID)
		if math.Abs(h.Score-want) > tolerance {
			t.Errorf("hit %d, %s: score = %v, want %v", i, h.ID, h.Score, want)
		}
		if math.Abs(h.Score-all[i].Score) > tolerance {
			t.Errorf("hit %d = %v, want the score of %v", i, h, all[i])
		}
		if i > 0 && (got[i-1].Score < h.Score || got[i-1].Score == h.Score && got[i-1].ID >= h.ID) {
			t.Errorf("hits %d and %d are %v and %v, want descending scores, ties by ID", i-1, i, got[i-1], h)
		}
	}
}

// agreesWithAMap makes random writes and searches, on the index and on a map.
// Each round has tenants and IDs of its own, so one index serves them all.
func agreesWithAMap(t *testing.T, ix dense.Index) {
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m := model{ix: ix, round: round, docs: map[memtypes.ID]dense.Doc{}, deleted: map[memtypes.ID]uint64{}}
		t.Repeat(map[string]func(*rapid.T){
			"upsert": m.upsert,
			"delete": m.remove,
			"search": m.search,
		})
		m.revs(t)
	})
}

// model is what the index should hold.
type model struct {
	ix      dense.Index
	round   int
	docs    map[memtypes.ID]dense.Doc
	deleted map[memtypes.ID]uint64
}

func (m *model) id(t *rapid.T) memtypes.ID {
	return id(m.round<<16 + rapid.IntRange(0, 40).Draw(t, "id"))
}

// tenant is that of an ID: an ID is a hash over its tenant, so it never moves.
func (m *model) tenant(id memtypes.ID) string {
	return fmt.Sprint("round", m.round, "-", id[len(id)-1]%2)
}

func (m *model) scope(t *rapid.T, tenant string, names ...string) memtypes.Scope {
	pick := rapid.SampledFrom(names)
	user, agent, run := pick.Draw(t, "user"), pick.Draw(t, "agent"), pick.Draw(t, "run")
	if user == "" && agent == "" && run == "" {
		user = "a"
	}
	s, err := memtypes.NewScope(tenant, user, agent, run)
	if err != nil {
		t.Fatalf("NewScope: %v", err)
	}
	return s
}

func vector(t *rapid.T, label string) memtypes.Vector {
	var xs [Dim]float64
	for i := range xs {
		xs[i] = float64(rapid.IntRange(-9, 9).Draw(t, label))
	}
	if xs == [Dim]float64{} {
		xs[0] = 1
	}
	return unit(xs[:]...)
}

func (m *model) doc(t *rapid.T) dense.Doc {
	id := m.id(t)
	d := dense.Doc{ID: id, Rev: rapid.Uint64Range(1, 8).Draw(t, "rev"), Facets: memtypes.Facets{
		Scope:   m.scope(t, m.tenant(id), "", "a", "b"),
		Kind:    rapid.SampledFrom(memtypes.Kinds()).Draw(t, "kind"),
		Layer:   rapid.SampledFrom([]memtypes.Layer{memtypes.Raw, memtypes.Thought}).Draw(t, "layer"),
		Session: rapid.SampledFrom([]string{"", "s", "t"}).Draw(t, "session"),
		When:    at(rapid.IntRange(0, 5).Draw(t, "when")),
	}}
	if n := rapid.IntRange(0, 7).Draw(t, "vectors"); n > 0 {
		d.Text = vector(t, "text")
		if n > 4 {
			d.Context = vector(t, "context")
		}
	}
	return d
}

func (m *model) upsert(t *rapid.T) {
	docs := rapid.SliceOfN(rapid.Custom(m.doc), 0, 12).Draw(t, "docs")
	if err := m.ix.Upsert(context.Background(), docs); err != nil {
		t.Fatalf("Upsert: %v", err)
	}
	for _, d := range docs {
		if old, ok := m.docs[d.ID]; ok && old.Rev > d.Rev || m.deleted[d.ID] > d.Rev {
			continue
		}
		m.docs[d.ID] = d
		delete(m.deleted, d.ID)
	}
}

func (m *model) remove(t *rapid.T) {
	ids := rapid.SliceOfN(rapid.Custom(m.id), 0, 6).Draw(t, "ids")
	rev := rapid.Uint64Range(1, 9).Draw(t, "rev")
	var all []memtypes.Gone
	for _, id := range ids {
		all = append(all, gone(m.tenant(id), rev, id)...)
	}
	if err := m.ix.Delete(context.Background(), all); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	for _, id := range ids {
		if d, ok := m.docs[id]; !ok || d.Rev <= rev {
			delete(m.docs, id)
			m.deleted[id] = max(m.deleted[id], rev)
		}
	}
}

func (m *model) search(t *rapid.T) {
	q := dense.Query{
		Vector: vector(t, "query"), K: rapid.IntRange(1, 45).Draw(t, "k"),
		Space:  rapid.SampledFrom([]dense.Space{"", dense.Text, dense.Context}).Draw(t, "space"),
		Filter: memtypes.Filter{Scope: m.scope(t, m.tenant(m.id(t)), "", "", "a")},
	}
	q.Filter.Kinds = rapid.SliceOfN(rapid.SampledFrom(memtypes.Kinds()), 0, 2).Draw(t, "kinds")
	q.Filter.Session = rapid.SampledFrom([]string{"", "", "s"}).Draw(t, "session")
	if rapid.Bool().Draw(t, "timed") {
		q.Filter.From = at(rapid.IntRange(0, 5).Draw(t, "from"))
		q.Filter.To = at(rapid.IntRange(0, 6).Draw(t, "to"))
	}
	if rapid.IntRange(0, 3).Draw(t, "by ID") == 0 {
		q.Filter.IDs = rapid.SliceOfN(rapid.Custom(m.id), 0, 20).Draw(t, "ids")
	}
	var docs []dense.Doc
	for _, d := range m.docs {
		docs = append(docs, d)
	}
	agree(t, m.ix, q, docs)
}

// revs compares what the index holds of this round.
func (m *model) revs(t *rapid.T) {
	held := map[memtypes.ID]uint64{}
	for h, err := range m.ix.Revs(context.Background()) {
		if err != nil {
			t.Fatalf("Revs: %v", err)
		}
		held[h.ID] = h.Rev
	}
	for n := range 1 << 6 {
		id := id(m.round<<16 + n)
		if got, want := held[id], m.docs[id].Rev; got != want {
			t.Errorf("%s is held with revision %d, want %d (0: not held)", id, got, want)
		}
	}
}

// concurrent writes, deletes and searches at once. Under -race it shows
// unguarded memory; here it checks that every hit is one that was written, and
// that at the end everything is as the last writes left it.
func concurrent(t *testing.T, ix dense.Index) {
	const writers, each = 4, 60
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				d := doc(t, w*each+n, unit(1, float64(n)))
				d.Rev = uint64(n + 1)
				if n%3 == 0 {
					d.Context = unit(float64(n), 1)
				}
				if err := ix.Upsert(t.Context(), []dense.Doc{d}); err != nil {
					t.Errorf("Upsert: %v", err)
				}
				if n%2 == 1 {
					if err := ix.Delete(t.Context(), gone(memtypes.DefaultTenant, d.Rev, d.ID)); err != nil {
						t.Errorf("Delete: %v", err)
					}
				}
			}
		})
		wg.Go(func() {
			for n := range each {
				q := ask(t, unit(1, float64(n)), 1+n)
				q.Space = []dense.Space{dense.Text, dense.Context}[w%2]
				hits, err := ix.Search(t.Context(), q)
				if err != nil {
					t.Errorf("Search: %v", err)
				}
				for i, h := range hits {
					if h.ID < id(0) || h.ID >= id(writers*each) || i > 0 && hits[i-1].Score < h.Score {
						t.Errorf("hit %d of %v is unknown or out of order", i, hits)
					}
				}
			}
		})
	}
	wg.Wait()
	want := map[memtypes.ID]uint64{}
	for n := range writers * each {
		if n%each%2 == 0 {
			want[id(n)] = uint64(n%each + 1)
		}
	}
	wantHeld(t, ix, want)
}
