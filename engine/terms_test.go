package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// words is an embedder that knows words and no texts.
type words struct {
	llm.Embedder
	weight map[string]float64
	near   map[string][]llm.Neighbour
	asked  []string // every word whose neighbours were asked for
	n      int      // how many of them, the last time
}

func (w *words) Weight(word string) (float64, bool) {
	v, ok := w.weight[word]
	return v, ok
}

func (w *words) Words(han string) []string { return strings.Split(han, "") }

func (w *words) Neighbours(of []string, n int) [][]llm.Neighbour {
	w.asked, w.n = append(w.asked, of...), n
	out := make([][]llm.Neighbour, len(of))
	for i, word := range of {
		out[i] = w.near[word]
	}
	return out
}

// asks gives the terms that a query is searched by in a bank that holds text.
func asks(t *testing.T, e llm.Embedder, p fusion.Profile, query, text string) []sparse.Term {
	t.Helper()
	ix, err := sparse.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	scope, err := memtypes.NewScope("", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	analyzer := sparse.NewAnalyzer(nil)
	doc := sparse.Doc{ID: "0f8fad5b-d9cb-869f-8165-70867728950e", Rev: 1,
		Facets: memtypes.Facets{Scope: scope, Kind: memtypes.Knowledge},
		Fields: map[sparse.Field][]string{sparse.Text: analyzer.Tokens(text)}}
	if err := ix.Upsert(t.Context(), []sparse.Doc{doc}); err != nil {
		t.Fatal(err)
	}
	en := &Engine{parts: Parts{Sparse: ix, Analyzer: analyzer, Embedder: e}, lexical: newLexicalCache()}
	s := &search{engine: en, ix: &indexes{sparse: ix}, query: fusion.Query{Text: query}, filter: memtypes.Filter{Scope: scope}}
	if err := en.terms(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	return s.terms
}

func TestTerms(t *testing.T) {
	lex := &words{
		weight: map[string]float64{"harbour": .9, "see": .2},
		near: map[string][]llm.Neighbour{"harbour": {
			{Word: "harbours", Cosine: .9}, {Word: "port", Cosine: .8}, {Word: "ports", Cosine: .75},
			{Word: "dock", Cosine: .7}, {Word: "pier", Cosine: .65}, {Word: "the", Cosine: .6}, {Word: "sea", Cosine: .3},
		}},
	}
	const bank = "the port had a pier by the sea"
	for _, tt := range []struct {
		name     string
		embedder llm.Embedder
		profile  fusion.Profile
		query    string
		want     []sparse.Term
	}{
		{"weighted and widened by what the bank holds", lex, fusion.Default, "harbour", []sparse.Term{
			// .7 (cos - .3)/.7: "harbours" is the word itself, "ports" is "port"
			// again, no "dock" is held, "the" is a stop word, "sea" is at the limit.
			{Token: "harbour", Boost: .9, Near: []sparse.Near{{Token: "port", Weight: .5}, {Token: "pier", Weight: .35}}}}},
		{"question words go, unknown words weigh 1", lex, fusion.Default, "When did Zorro see it?", []sparse.Term{
			{Token: "zorro", Boost: 1}, {Token: "see", Boost: .2}}},
		{"said twice, in other forms, counts once", lex, fusion.Default, "Zorro and see, seen, Zorro's", []sparse.Term{
			{Token: "zorro", Boost: 1}, {Token: "see", Boost: .2}}},
		{"an embedder without a word table", struct{ llm.Embedder }{}, fusion.Default, "the harbour", []sparse.Term{{Token: "harbour", Boost: 1}}},
		{"no embedder", nil, fusion.Default, "the harbour", []sparse.Term{{Token: "harbour", Boost: 1}}},
		{"plain: all words as they stand, as often as they stand", lex, fusion.BM25, "When did the harbour see the harbour?", []sparse.Term{
			{Token: "when"}, {Token: "do"}, {Token: "harbour"}, {Token: "see"}, {Token: "harbour"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := asks(t, tt.embedder, tt.profile, tt.query, bank)
			close := gocmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
			if d := gocmp.Diff(tt.want, got, close); d != "" {
				t.Errorf("terms of %q (-want +got):\n%s", tt.query, d)
			}
		})
	}
}

// TestTermsKeepTheNearest: of many neighbours that the bank holds, the nearest eight.
func TestTermsKeepTheNearest(t *testing.T) {
	lex := &words{near: map[string][]llm.Neighbour{}}
	var bank []string
	for i := range 30 {
		word := fmt.Sprintf("zz%02d", i)
		lex.near["harbour"] = append(lex.near["harbour"], llm.Neighbour{Word: word, Cosine: .99 - float64(i)/100})
		if i%2 == 1 {
			bank = append(bank, word)
		}
	}
	var got []string
	for _, n := range asks(t, lex, fusion.Default, "harbour", strings.Join(bank, " "))[0].Near {
		got = append(got, n.Token)
	}
	if d := gocmp.Diff([]string{"zz01", "zz03", "zz05", "zz07", "zz09", "zz11", "zz13", "zz15"}, got); d != "" {
		t.Errorf("neighbours kept (-want +got):\n%s", d)
	}
	if lex.n != proposed {
		t.Errorf("asked for %d neighbours, want %d", lex.n, proposed)
	}
}

// TestLexicalCache: a word is asked for once, and the cache stays bounded.
func TestLexicalCache(t *testing.T) {
	lex := &words{near: map[string][]llm.Neighbour{"harbour": {{Word: "port", Cosine: .8}}}}
	a, c := sparse.NewAnalyzer(nil), newLexicalCache()
	first := c.neighbours(lex, a, a.Words("harbour sea"))
	again := c.neighbours(lex, a, a.Words("sea harbour boat"))
	if d := gocmp.Diff([]string{"harbour", "sea", "boat"}, lex.asked); d != "" {
		t.Errorf("words asked for (-want +got):\n%s", d)
	}
	if d := gocmp.Diff(first[0], again[1]); d != "" || len(first[0]) != 1 {
		t.Errorf("neighbours the second time (-first +second):\n%s", d)
	}
	for i := range lexicalCacheSize + 5 {
		c.neighbours(lex, a, []sparse.Token{{Surface: fmt.Sprint("w", i), Token: "w"}})
	}
	if len(c.near) > lexicalCacheSize {
		t.Errorf("the cache holds %d words, want at most %d", len(c.near), lexicalCacheSize)
	}
}

// silent is an index that cannot count.
type silent struct{ sparse.Index }

func (silent) DocFreq(context.Context, string, sparse.Field, []string) ([]int, error) {
	return nil, memtypes.Errorf("test", memtypes.Unavailable, "down")
}

// TestTermsOfAFailingIndex: the search will say what is wrong, with the words as they are.
func TestTermsOfAFailingIndex(t *testing.T) {
	lex := &words{near: map[string][]llm.Neighbour{"harbour": {{Word: "port", Cosine: .8}}}}
	en := &Engine{parts: Parts{Analyzer: sparse.NewAnalyzer(nil), Embedder: lex}, lexical: newLexicalCache()}
	s := &search{engine: en, ix: &indexes{sparse: silent{}}, query: fusion.Query{Text: "harbour"}}
	if err := en.terms(t.Context(), s, fusion.Default); err != nil || len(s.terms) != 1 || s.terms[0].Token != "harbour" {
		t.Errorf("terms = %+v, %v, want the word", s.terms, err)
	}
}
