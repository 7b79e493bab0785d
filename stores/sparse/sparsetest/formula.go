package sparsetest

import (
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

func hit(n int, score float64) memtypes.Scored { return memtypes.Scored{ID: id(n), Score: score} }

// formula pins BM25 to numbers worked out by hand. Three documents of 4, 2 and
// 3 tokens: the mean is 3. "cat" is in two of three:
// idf = ln(1 + 1.5/2.5) = ln 1.6 = .4700036.
func formula(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat sees a cat", "the cat", "a dog runs")...)
	// 1: tf 2, norm 1.2*(.25 + .75*4/3) = 1.5: .4700036 * 2/3.5  = .2685735
	// 2: tf 1, norm 1.2*(.25 + .75*2/3) =  .9: .4700036 * 1/1.9  = .2473703
	scores(t, ix, query(t, "cat"), hit(1, .2685735), hit(2, .2473703))
	// "dog" is in one of three: ln(1 + 2.5/1.5) = .9808293; norm 1.2: .9808293/2.2 = .4458315
	scores(t, ix, query(t, "dog"), hit(3, .4458315))
	// Either: the sum of what each gives.
	scores(t, ix, query(t, "the cat"), hit(2, .2473703+.9808293/1.9), hit(1, .2685735))
	// A word in every document still scores: ln(1 + .5/1.5) = .2876821 once "a" is in all.
	upsert(t, ix, doc(t, 2, "a cat"))
	if hits := search(t, ix, query(t, "a")); len(hits) != 3 || hits[2].Score <= 0 {
		t.Fatalf("found %v, want three memories, all above 0", hits)
	}
}

// fieldsHaveTheirOwnB: the same tokens score by each field's b.
func fieldsHaveTheirOwnB(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	ds := docs(t, "cat sees a dog", "cat runs")
	for i := range ds {
		for _, f := range sparse.Fields() {
			ds[i].Fields[f] = ds[i].Fields[sparse.Text]
		}
	}
	upsert(t, ix, ds...)
	// idf = ln(1 + .5/2.5) = .1823216; the mean is 3.
	// b .75: norms 1.2*(.25 + 1) = 1.5 and 1.2*(.25 + .5) = .9
	// b .15: norms 1.2*(.85 + .2) = 1.26 and 1.2*(.85 + .1) = 1.14
	for _, tt := range []struct {
		field       sparse.Field
		long, short float64
	}{
		{sparse.Text, .1823216 / 2.5, .1823216 / 1.9},
		{sparse.Turn, .1823216 / 2.26, .1823216 / 2.14},
		{sparse.Window, .1823216 / 2.26, .1823216 / 2.14},
	} {
		q := query(t, "cat")
		q.Field = tt.field
		scores(t, ix, q, hit(2, tt.short), hit(1, tt.long))
	}
}

// lengthIsOneByte: 40 to 41 tokens count as 40, 104 to 111 as 104, while the mean is
// of the true lengths.
func lengthIsOneByte(t *testing.T, open func(testing.TB) sparse.Index) {
	for _, tt := range []struct{ tokens, counts int }{
		{39, 39}, {40, 40}, {41, 40}, {42, 42}, {87, 84}, {88, 88}, {95, 88}, {111, 104}, {1000, 984},
	} {
		if got := Length(tt.tokens); got != tt.counts {
			t.Fatalf("Length(%d) = %d, want %d", tt.tokens, got, tt.counts)
		}
		ix := open(t)
		upsert(t, ix, docs(t, strings.Repeat("x ", tt.tokens-1)+"cat", "dog")...)
		mean := float64(tt.tokens+1) / 2
		norm := 1.2 * (.25 + .75*float64(tt.counts)/mean)
		scores(t, ix, query(t, "cat"), hit(1, .6931472/(1+norm))) // idf = ln(1 + 1.5/1.5)
	}
}

// manyOccurrences: frequencies are kept exactly, however high.
func manyOccurrences(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, strings.Repeat("cat ", 62), strings.Repeat("cat ", 63), strings.Repeat("cat ", 64), strings.Repeat("cat ", 1000))...)
	m := newModel()
	m.upsert(docs(t, strings.Repeat("cat ", 62), strings.Repeat("cat ", 63), strings.Repeat("cat ", 64), strings.Repeat("cat ", 1000)))
	q := query(t, "cat")
	scores(t, ix, q, m.search(q)...)
}

// onlyDocsWithTheFieldCount: N and the mean are over the documents that have
// the field, as Lucene counts them.
func onlyDocsWithTheFieldCount(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	with := doc(t, 1, "dog")
	with.Fields[sparse.Turn] = []string{"cat", "runs"}
	without := doc(t, 2, "cat")
	empty := doc(t, 3, "cat")
	empty.Fields[sparse.Turn] = []string{}
	upsert(t, ix, with, without, empty)
	q := query(t, "cat")
	q.Field = sparse.Turn
	scores(t, ix, q, hit(1, .2876821/2.2)) // ln(1 + .5/1.5), at the mean length
}
