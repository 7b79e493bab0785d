package sparsetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// filters checks each facet by itself and some together, against the meaning
// of a Filter.
func filters(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	var ds []sparse.Doc
	for i := range 24 {
		d := doc(t, i+1, "cat")
		d.Facets = memtypes.Facets{
			Scope:   scope(t, "", []string{"ann", "bob"}[i%2], []string{"", "helper"}[i/2%2], []string{"", "r1", "r2"}[i%3]),
			Kind:    memtypes.Kinds()[i%3],
			Layer:   []memtypes.Layer{memtypes.Raw, memtypes.Thought}[i/4%2],
			Session: []string{"", "monday", "tuesday"}[i/3%3],
			When:    day.Add(time.Duration(i) * time.Hour),
		}
		ds = append(ds, d)
	}
	upsert(t, ix, ds...)
	ann, bob := scope(t, "", "ann", "", ""), scope(t, "", "bob", "", "")
	for _, tt := range []struct {
		name   string
		filter memtypes.Filter
	}{
		{"user", memtypes.Filter{Scope: ann}},
		{"agent", memtypes.Filter{Scope: scope(t, "", "", "helper", "")}},
		{"run", memtypes.Filter{Scope: scope(t, "", "", "", "r2")}},
		{"user, agent and run", memtypes.Filter{Scope: scope(t, "", "bob", "helper", "r1")}},
		{"unknown user", memtypes.Filter{Scope: scope(t, "", "eve", "", "")}},
		{"other tenant", memtypes.Filter{Scope: scope(t, "acme", "ann", "", "")}},
		{"kind", memtypes.Filter{Scope: ann, Kinds: []memtypes.Kind{memtypes.TaskKind}}},
		{"kinds", memtypes.Filter{Scope: ann, Kinds: []memtypes.Kind{memtypes.TaskKind, memtypes.Knowledge}}},
		{"layer", memtypes.Filter{Scope: ann, Layers: []memtypes.Layer{memtypes.Thought}}},
		{"layers", memtypes.Filter{Scope: ann, Layers: []memtypes.Layer{memtypes.Thought, memtypes.Raw}}},
		{"session", memtypes.Filter{Scope: bob, Session: "monday"}},
		{"unknown session", memtypes.Filter{Scope: bob, Session: "sunday"}},
		{"from", memtypes.Filter{Scope: bob, From: day.Add(7 * time.Hour)}},
		{"to", memtypes.Filter{Scope: bob, To: day.Add(7 * time.Hour)}},
		{"from and to", memtypes.Filter{Scope: ann, From: day.Add(4 * time.Hour), To: day.Add(10 * time.Hour)}},
		{"nothing in that time", memtypes.Filter{Scope: ann, From: day.Add(100 * time.Hour)}},
		{"ids", memtypes.Filter{Scope: ann, IDs: []memtypes.ID{id(3), id(2), id(1), id(99)}}},
		{"no ids", memtypes.Filter{Scope: ann, IDs: []memtypes.ID{}}},
		{"all together", memtypes.Filter{Scope: ann, Kinds: []memtypes.Kind{memtypes.Dialogue, memtypes.Knowledge}, Layers: []memtypes.Layer{memtypes.Raw},
			Session: "monday", From: day, To: day.Add(20 * time.Hour), IDs: []memtypes.ID{id(10), id(11), id(12), id(13)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []int
			for i, d := range ds {
				if tt.filter.Admits(d.ID, d.Facets) {
					want = append(want, i+1)
				}
			}
			q := query(t, "cat")
			q.Filter, q.K = tt.filter, 100
			finds(t, ix, q, want...)
		})
	}
}

// tenantsApart: no filter shows another tenant's memory, not even by ID.
func tenantsApart(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	other := doc(t, 1, "cat")
	other.Facets.Scope = scope(t, "acme", "ann", "", "")
	upsert(t, ix, other, doc(t, 2, "cat"))
	q := query(t, "cat")
	finds(t, ix, q, 2)
	q.Filter.IDs = []memtypes.ID{id(1), id(2)}
	finds(t, ix, q, 2)
	q.Filter.Scope = scope(t, "acme", "ann", "", "")
	finds(t, ix, q, 1)
	removeOf(t, ix, "acme", 9, id(1))
	finds(t, ix, q)
	finds(t, ix, query(t, "cat"), 2)
	holds(t, ix, 1)
}

// tenantMoves: an ID that is written for another tenant is that one's.
func tenantMoves(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	other := doc(t, 1, "cat")
	other.Facets.Scope = scope(t, "acme", "ann", "", "")
	upsert(t, ix, other, doc(t, 2, "cat"))
	moved := doc(t, 1, "cat")
	moved.Rev = 2
	upsert(t, ix, moved)
	q := query(t, "cat")
	finds(t, ix, q, 1, 2)
	q.Filter.Scope = other.Facets.Scope
	finds(t, ix, q)
	holds(t, ix, 2)
}

// bySession: the best of each session, ties by ID; no session stands alone.
func bySession(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	ds := docs(t, "cat cat x", "cat x x", "cat x x x x", "cat x x x", "cat x x x", "dog", "cat cat cat x")
	for i, s := range []string{"a", "a", "b", "b", "", "c", ""} {
		ds[i].Facets.Session = s
	}
	upsert(t, ix, ds...)
	q := query(t, "cat")
	q.BySession = true
	finds(t, ix, q, 7, 1, 4, 5)
	q.K = 2
	finds(t, ix, q, 7, 1)
	q.K, q.Filter.IDs = 10, []memtypes.ID{id(2), id(3), id(5)} // the best of those admitted
	finds(t, ix, q, 2, 5, 3)

	// More sessions than K, and the best of a session last.
	var many []sparse.Doc
	for i := range 60 {
		d := doc(t, 100+i, fmt.Sprintf("bird %.*s", i%7*2, "x x x x x x x x"))
		d.Facets.Session = fmt.Sprint("s", i%20)
		many = append(many, d)
	}
	upsert(t, ix, many...)
	m := newModel()
	m.upsert(ds)
	m.upsert(many)
	q = query(t, "bird x")
	for q.BySession, q.K = true, 1; q.K < 25; q.K++ {
		agree(t, m, q, search(t, ix, q))
	}
}

func docFreq(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	f, ok := ix.(sparse.Frequencies)
	if !ok {
		t.Skip("this backend has no Frequencies, which is optional")
	}
	ds := docs(t, "cat cat dog", "cat", "bird")
	ds[2].Fields[sparse.Turn] = []string{"cat"}
	other := doc(t, 9, "cat")
	other.Facets.Scope = scope(t, "acme", "ann", "", "")
	upsert(t, ix, append(ds, other)...)
	remove(t, ix, 9, id(3))
	for _, tt := range []struct {
		tenant string
		field  sparse.Field
		want   []int
	}{
		{memtypes.DefaultTenant, sparse.Text, []int{2, 1, 0, 0, 2}},
		{memtypes.DefaultTenant, sparse.Turn, []int{0, 0, 0, 0, 0}},
		{"acme", sparse.Text, []int{1, 0, 0, 0, 1}},
		{"nobody", sparse.Text, []int{0, 0, 0, 0, 0}},
	} {
		got, err := f.DocFreq(t.Context(), tt.tenant, tt.field, []string{"cat", "dog", "bird", "unknown", "cat"})
		if err != nil {
			t.Fatalf("DocFreq: %v", err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("DocFreq of %s, %s (-want +got):\n%s", tt.tenant, tt.field, diff)
		}
	}
	_, err := f.DocFreq(t.Context(), memtypes.DefaultTenant, "title", []string{"cat"})
	code(t, "DocFreq of an unknown field", err, memtypes.Invalid)
}

// tenantsDoNotShareStatistics: a tenant's answers are the same to the last bit
// with and without another's memories.
func tenantsDoNotShareStatistics(t *testing.T, open func(testing.TB) sparse.Index) {
	alone, shared := open(t), open(t)
	ds := docs(t, "cat runs fast", "the cat", "dog", "cat dog bird")
	upsert(t, alone, ds...)
	for i := range 50 {
		d := doc(t, 100+i, "cat cat elephant")
		d.Facets.Scope = scope(t, "acme", "ann", "", "")
		upsert(t, shared, d)
		if i < len(ds) {
			upsert(t, shared, ds[i])
		}
	}
	for _, words := range []string{"cat", "dog", "the cat runs", "elephant bird"} {
		if diff := cmp.Diff(search(t, alone, query(t, words)), search(t, shared, query(t, words))); diff != "" {
			t.Errorf("%q: answers with another tenant's memories beside differ (-without +with):\n%s", words, diff)
		}
	}
}

// agree checks hits against the model. Scores that differ by rounding only may
// stand in either order, but each hit must have its own score, and hits of the
// same score must stand by ID.
func agree(tb fataler, m *model, q sparse.Query, got []memtypes.Scored) {
	tb.Helper()
	want := m.search(q)
	if len(got) != len(want) {
		tb.Fatalf("found %d memories, want %d\nquery %+v\ngot  %v\nwant %v", len(got), len(want), q, got, want)
	}
	if !slices.IsSortedFunc(got, compare) {
		tb.Fatalf("not by descending score and then by ID: %v", got)
	}
	all := q
	all.K, all.BySession = len(m.docs)+1, false
	truth := map[memtypes.ID]float64{}
	for _, h := range m.search(all) {
		truth[h.ID] = h.Score
	}
	for i, h := range got {
		if !near(h.Score, want[i].Score) || !near(h.Score, truth[h.ID]) {
			tb.Fatalf("hit %d is %v of true score %v, want %v\nquery %+v\ngot  %v\nwant %v", i, h, truth[h.ID], want[i], q, got, want)
		}
	}
}
