package sparsetest

import (
	"math"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// boost multiplies a term's score; 0 stands for 1.
func boost(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat", "dog", "dog")...)
	cat, dog := .9808293/2.2, .4700036/2.2
	scores(t, ix, query(t, "cat dog"), hit(1, cat), hit(2, dog), hit(3, dog))
	q := query(t, "cat dog")
	q.Terms[0].Boost, q.Terms[1].Boost = .1, 2
	scores(t, ix, q, hit(2, 2*dog), hit(3, 2*dog), hit(1, .1*cat))
}

// nearIsMaxNotSum: a document counts once for a term, by its best spelling.
func nearIsMaxNotSum(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat kitten", "cat x", "kitten x", "dog x")...)
	// All of two tokens, so the norm is 1.2; cat and kitten: ln(1 + 2.5/2.5) = .6931472.
	one := .6931472 / 2.2
	q := query(t, "cat")
	q.Terms[0].Near = []sparse.Near{{Token: "kitten", Weight: .5}, {Token: "nowhere", Weight: 1}}
	scores(t, ix, q, hit(1, one), hit(2, one), hit(3, .5*one))
	q.Terms[0].Boost = 3
	scores(t, ix, q, hit(1, 3*one), hit(2, 3*one), hit(3, 1.5*one))
	// Each has its own idf: a rare neighbour may outweigh the term. dog: ln(1 + 3.5/1.5) = 1.2039728
	q = query(t, "x")
	q.Terms[0].Near = []sparse.Near{{Token: "dog", Weight: .9}}
	x := .3566749 / 2.2 // ln(1 + 1.5/3.5)
	scores(t, ix, q, hit(4, .9*1.2039728/2.2), hit(2, x), hit(3, x))
	// The term itself need not occur, and may stand among its neighbours.
	q = query(t, "nowhere")
	q.Terms[0].Near = []sparse.Near{{Token: "dog", Weight: .5}}
	scores(t, ix, q, hit(4, .5*1.2039728/2.2))
	q = query(t, "dog")
	q.Terms[0].Near = []sparse.Near{{Token: "dog", Weight: .5}}
	scores(t, ix, q, hit(4, 1.2039728/2.2))
}

// termSaidTwice: each term adds, also the same one again.
func termSaidTwice(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat", "dog")...)
	scores(t, ix, query(t, "cat cat"), hit(1, 2*.6931472/2.2))
}

// noTerms: a query without terms, or of unknown ones, finds nothing and is no error.
func noTerms(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	finds(t, ix, query(t, "cat"))
	upsert(t, ix, docs(t, "cat", "")...)
	finds(t, ix, query(t, ""))
	finds(t, ix, query(t, "unknown"))
	holds(t, ix, 2) // a memory without tokens is held too
}

// tiesByID: equal scores stand by ID, and the cut at K takes the least IDs.
func tiesByID(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	for _, n := range []int{5, 2, 9, 1, 7} { // neither order of writing
		upsert(t, ix, doc(t, n, "cat runs"))
	}
	upsert(t, ix, doc(t, 8, "cat"))
	q := query(t, "cat")
	finds(t, ix, q, 8, 1, 2, 5, 7, 9)
	q.K = 3
	finds(t, ix, q, 8, 1, 2)
}

// badQueries are refused with Invalid.
func badQueries(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat")...)
	for _, tt := range []struct {
		name string
		edit func(*sparse.Query)
	}{
		{"unknown field", func(q *sparse.Query) { q.Field = "title" }},
		{"no field", func(q *sparse.Query) { q.Field = "" }},
		{"K of 0", func(q *sparse.Query) { q.K = 0 }},
		{"negative K", func(q *sparse.Query) { q.K = -1 }},
		{"no scope", func(q *sparse.Query) { q.Filter.Scope = memtypes.Scope{} }},
		{"negative boost", func(q *sparse.Query) { q.Terms[0].Boost = -1 }},
		{"boost NaN", func(q *sparse.Query) { q.Terms[0].Boost = math.NaN() }},
		{"boost infinite", func(q *sparse.Query) { q.Terms[0].Boost = math.Inf(1) }},
		{"weight 0", func(q *sparse.Query) { q.Terms[0].Near = []sparse.Near{{Token: "dog"}} }},
		{"weight above 1", func(q *sparse.Query) { q.Terms[0].Near = []sparse.Near{{Token: "dog", Weight: 1.1}} }},
		{"weight NaN", func(q *sparse.Query) { q.Terms[0].Near = []sparse.Near{{Token: "dog", Weight: math.NaN()}} }},
	} {
		q := query(t, "cat")
		tt.edit(&q)
		_, err := ix.Search(t.Context(), q)
		code(t, tt.name, err, memtypes.Invalid)
	}
}
