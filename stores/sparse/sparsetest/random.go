package sparsetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// words are few, so that queries and documents meet; the first are the commonest.
var words = []string{"a", "b", "c", "d", "e", "f", "g", "h", "爱", "x1"}

func drawWord(r *rapid.T) string {
	n := rapid.IntRange(0, len(words)*len(words)-1).Draw(r, "word")
	return words[min(n%len(words), n/len(words))]
}

func drawTokens(r *rapid.T, most int) []string {
	return rapid.SliceOfN(rapid.Custom(drawWord), 0, most).Draw(r, "tokens")
}

func drawFacets(r *rapid.T) memtypes.Facets {
	return memtypes.Facets{
		Scope: scope(r, rapid.SampledFrom([]string{"", "", "acme"}).Draw(r, "tenant"), rapid.SampledFrom([]string{"ann", "bob"}).Draw(r, "user"),
			rapid.SampledFrom([]string{"", "helper"}).Draw(r, "agent"), rapid.SampledFrom([]string{"", "r1"}).Draw(r, "run")),
		Kind:    rapid.SampledFrom(memtypes.Kinds()).Draw(r, "kind"),
		Layer:   rapid.SampledFrom([]memtypes.Layer{memtypes.Raw, memtypes.Thought}).Draw(r, "layer"),
		Session: rapid.SampledFrom([]string{"", "s1", "s2", "s3", "s4"}).Draw(r, "session"),
		When:    day.Add(time.Duration(rapid.IntRange(0, 20).Draw(r, "hour")) * time.Hour),
	}
}

// tenantOf is whose memory the n-th is: that never changes.
func tenantOf(n int) string {
	if n%3 == 0 {
		return "acme"
	}
	return memtypes.DefaultTenant
}

func drawDoc(r *rapid.T, n int) sparse.Doc {
	d := sparse.Doc{ID: id(n), Rev: uint64(rapid.IntRange(1, 5).Draw(r, "rev")), Facets: drawFacets(r), Fields: map[sparse.Field][]string{}}
	s := d.Facets.Scope
	d.Facets.Scope = scope(r, tenantOf(n), s.User(), s.Agent(), s.Run())
	for _, f := range sparse.Fields() {
		if rapid.IntRange(0, 3).Draw(r, "has "+string(f)) > 0 {
			d.Fields[f] = drawTokens(r, 12)
		}
	}
	if rapid.IntRange(0, 9).Draw(r, "long") == 0 { // lengths and frequencies beyond the exact ones
		d.Fields[sparse.Text] = drawTokens(r, 90)
	}
	return d
}

func drawQuery(r *rapid.T, most int) sparse.Query {
	q := sparse.Query{
		Field:     rapid.SampledFrom(sparse.Fields()).Draw(r, "field"),
		K:         rapid.IntRange(1, 12).Draw(r, "k"),
		BySession: rapid.Bool().Draw(r, "by session"),
	}
	for range rapid.IntRange(1, 5).Draw(r, "terms") {
		t := sparse.Term{Token: drawWord(r), Boost: rapid.SampledFrom([]float64{0, 1, .3, 2.5}).Draw(r, "boost")}
		for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(r, "neighbours") {
			t.Near = append(t.Near, sparse.Near{Token: drawWord(r), Weight: rapid.SampledFrom([]float64{.1, .5, .7, 1}).Draw(r, "weight")})
		}
		q.Terms = append(q.Terms, t)
	}
	q.Filter = drawFilter(r, most)
	return q
}

func drawFilter(r *rapid.T, most int) memtypes.Filter {
	maybe := func(what string) bool { return rapid.IntRange(0, 3).Draw(r, what) == 0 }
	like := drawFacets(r)
	f := memtypes.Filter{Scope: scope(r, like.Scope.Tenant(), like.Scope.User(), "", "")}
	if maybe("whole scope") {
		f.Scope = like.Scope
	}
	if maybe("kinds") {
		f.Kinds = []memtypes.Kind{like.Kind, memtypes.Dialogue}
	}
	if maybe("layers") {
		f.Layers = []memtypes.Layer{like.Layer}
	}
	if maybe("session") {
		f.Session = like.Session
	}
	if maybe("from") {
		f.From = like.When
	}
	if maybe("to") {
		f.To = like.When.Add(5 * time.Hour)
	}
	if maybe("ids") {
		for range rapid.IntRange(0, 8).Draw(r, "how many ids") {
			f.IDs = append(f.IDs, id(rapid.IntRange(1, most).Draw(r, "id")))
		}
	}
	return f
}

// randomQueries asks a bank that was written once anything that can be asked.
func randomQueries(t *testing.T, open func(testing.TB) sparse.Index) {
	ix, m := open(t), newModel()
	const most = 60
	ds := make([]sparse.Doc, most)
	bank := rapid.Custom(func(r *rapid.T) []sparse.Doc {
		for i := range ds {
			ds[i] = drawDoc(r, i+1)
		}
		return ds
	}).Example(1)
	upsert(t, ix, bank...)
	m.upsert(bank)
	rapid.Check(t, func(r *rapid.T) {
		q := drawQuery(r, most)
		agree(r, m, q, search(r, ix, q))
	})
}

// randomHistory writes, replaces and deletes at random and compares every
// answer on the way.
func randomHistory(t *testing.T, open func(testing.TB) sparse.Index) {
	rapid.Check(t, func(r *rapid.T) {
		const most = 25
		ix, m := open(t), newModel()
		defer ix.Close()
		r.Repeat(map[string]func(*rapid.T){
			"upsert": func(r *rapid.T) {
				var ds []sparse.Doc
				for range rapid.IntRange(1, 6).Draw(r, "docs") {
					ds = append(ds, drawDoc(r, rapid.IntRange(1, most).Draw(r, "id")))
				}
				upsert(r, ix, ds...)
				m.upsert(ds)
			},
			"delete": func(r *rapid.T) {
				n, rev := rapid.IntRange(1, most).Draw(r, "id"), uint64(rapid.IntRange(1, 5).Draw(r, "rev"))
				removeOf(r, ix, tenantOf(n), rev, id(n))
				m.remove([]memtypes.ID{id(n)}, rev)
			},
			"search": func(r *rapid.T) {
				q := drawQuery(r, most)
				agree(r, m, q, search(r, ix, q))
			},
			"": func(r *rapid.T) {
				holds(r, ix, len(m.docs))
			},
		})
	})
}

// statisticsAfterDelete: after a delete, scores are as if the memory had never been.
func statisticsAfterDelete(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat sees a cat", "the cat", "a dog runs", "cat cat", "cat and more of it")...)
	remove(t, ix, 9, id(4), id(5))
	scores(t, ix, query(t, "cat"), hit(1, .2685735), hit(2, .2473703)) // as in formula
}

// statisticsAfterReplace: after an update, scores are as if only the new text had ever been.
func statisticsAfterReplace(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat", "cat cat cat cat x x x", "cat")...)
	upsert(t, ix, docs(t, "cat sees a cat", "the cat", "a dog runs")...)
	scores(t, ix, query(t, "cat"), hit(1, .2685735), hit(2, .2473703))
}

// concurrent: searches, writes and listings at once neither race nor show a
// document half replaced.
func concurrent(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	const writers, rounds = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				d := doc(t, w+1, []string{"cat cat", "dog dog"}[i%2])
				d.Rev = uint64(i + 1)
				if err := ix.Upsert(t.Context(), []sparse.Doc{d}); err != nil {
					t.Errorf("Upsert: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range rounds {
			if err := ix.Delete(t.Context(), gone(memtypes.DefaultTenant, 1, id(90+i))); err != nil {
				t.Errorf("Delete: %v", err)
			}
			for _, err := range ix.Revs(t.Context()) {
				if err != nil {
					t.Errorf("Revs: %v", err)
				}
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for range rounds {
				hits, err := ix.Search(t.Context(), query(t, "cat dog"))
				if err != nil || len(hits) > writers {
					t.Errorf("Search found %v, %v, want at most %d memories", hits, err, writers)
				}
			}
		})
	}
	wg.Wait()
	want := make([]string, 0, writers)
	for w := range writers {
		want = append(want, string(id(w+1)))
	}
	var got []string
	for _, h := range search(t, ix, query(t, "cat")) { // the last round is even
		got = append(got, string(h.ID))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("in the end found %v, want %v", got, want)
	}
}
