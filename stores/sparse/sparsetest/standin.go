package sparsetest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// describes: Statistics are those of the memories that have the field.
func describes(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	s, ok := ix.(sparse.Statistics)
	if !ok {
		t.Skip("this backend has no Statistics, which is optional")
	}
	ds := docs(t, "cat cat dog", "cat", "bird and fish", "", "x y")
	ds[2].Fields[sparse.Turn] = []string{"cat", "cat"}
	other := doc(t, 9, "cat")
	other.Facets.Scope = scope(t, "acme", "ann", "", "")
	upsert(t, ix, append(ds, other)...)
	remove(t, ix, 9, id(5), id(60))
	for _, tt := range []struct {
		tenant string
		field  sparse.Field
		want   sparse.Stats
	}{
		{memtypes.DefaultTenant, sparse.Text, sparse.Stats{Docs: 3, Tokens: 7, DocFreq: map[string]int{"cat": 2, "bird": 1}}},
		{memtypes.DefaultTenant, sparse.Turn, sparse.Stats{Docs: 1, Tokens: 2, DocFreq: map[string]int{"cat": 1}}},
		{memtypes.DefaultTenant, sparse.Window, sparse.Stats{}},
		{"acme", sparse.Text, sparse.Stats{Docs: 1, Tokens: 1, DocFreq: map[string]int{"cat": 1}}},
		{"nobody", sparse.Text, sparse.Stats{}},
	} {
		got, err := s.Statistics(t.Context(), tt.tenant, tt.field, []string{"cat", "bird", "unknown", "x", "cat"})
		if err != nil {
			t.Fatalf("Statistics: %v", err)
		}
		for token, df := range got.DocFreq { // one that no memory holds may be left out
			if df == 0 {
				delete(got.DocFreq, token)
			}
		}
		if len(got.DocFreq) == 0 {
			got.DocFreq = nil
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Statistics of %s, %s (-want +got):\n%s", tt.tenant, tt.field, diff)
		}
	}
	_, err := s.Statistics(t.Context(), memtypes.DefaultTenant, "title", []string{"cat"})
	code(t, "Statistics of an unknown field", err, memtypes.Invalid)
}

// queryStats: the figures of the query take the place of the index's own.
func queryStats(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat sees a cat", "the cat", "a dog runs")...)
	// As if it were the bank of formula and as large again, of which no other
	// has "dog": 6 documents of 4 tokens on average, "cat" in 4 of them.
	stats := &sparse.Stats{Docs: 6, Tokens: 24, DocFreq: map[string]int{"cat": 4, "dog": 1}}
	q := query(t, "cat dog unknown")
	q.Stats = stats
	// ln(1 + 2.5/4.5) = .4418328, ln(1 + 5.5/1.5) = 1.5404450
	// 1: tf 2, norm 1.2*(.25 + .75*4/4) = 1.2;   2: norm 1.2*(.25 + .75*2/4) = .75
	// 3: norm 1.2*(.25 + .75*3/4) = .975
	want := []memtypes.Scored{hit(3, 1.5404450/1.975), hit(1, .4418328*2/3.2), hit(2, .4418328/1.75)}
	scores(t, ix, q, want...)
	// A word that the statistics do not know is as rare as can be.
	q = query(t, "the")
	q.Stats = stats
	scores(t, ix, q, hit(2, math.Log(1+6.5/.5)/1.75))
	// A frequency that cannot be counts as all documents.
	q = query(t, "the")
	q.Stats = &sparse.Stats{Docs: 6, Tokens: 24, DocFreq: map[string]int{"the": 60}}
	scores(t, ix, q, hit(2, math.Log(1+.5/6.5)/1.75))
	// Statistics of nothing are none.
	q = query(t, "cat")
	for _, none := range []sparse.Stats{{}, {Docs: 3}, {Tokens: 3}} {
		q.Stats = &none
		scores(t, ix, q, hit(1, .2685735), hit(2, .2473703)) // as in formula
	}
	for _, bad := range []sparse.Stats{{Docs: -1, Tokens: 5}, {Docs: 1, Tokens: -5}} {
		q.Stats = &bad
		_, err := ix.Search(t.Context(), q)
		code(t, "negative statistics", err, memtypes.Invalid)
	}
}

// randomStandIn: the statistics of a bank make a part of it score as in the whole.
func randomStandIn(t *testing.T, open func(testing.TB) sparse.Index) {
	rapid.Check(t, func(r *rapid.T) {
		const most = 30
		part, m, some := open(t), newModel(), newModel()
		defer part.Close()
		for n := range most {
			d := drawDoc(r, n+1)
			m.upsert([]sparse.Doc{d})
			if rapid.Bool().Draw(r, "in the part") {
				upsert(r, part, d)
				some.upsert([]sparse.Doc{d})
			}
		}
		q := drawQuery(r, most)
		s := m.statistics(q.Filter.Scope.Tenant(), q.Field)
		q.Stats = &sparse.Stats{Docs: int(s.docs), Tokens: int(s.tokens), DocFreq: map[string]int{}}
		for token, df := range s.df {
			q.Stats.DocFreq[token] = int(df)
		}
		some.stats = &s
		agree(r, some, q, search(r, part, q))
	})
}
