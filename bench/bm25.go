package main

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// sentences makes n sentences of about 15 words whose frequencies fall as
// those of a language do.
func sentences(n int, seed uint64) [][]string {
	rnd := rand.New(rand.NewPCG(seed, 3))
	zipf := rand.NewZipf(rnd, 1.1, 8, 60_000)
	out := make([][]string, n)
	for i := range out {
		words := make([]string, 8+rnd.IntN(15))
		for j := range words {
			words[j] = word(zipf.Uint64())
		}
		out[i] = words
	}
	return out
}

// word spells a number in letters.
func word(n uint64) string {
	b := []byte{'w'}
	for n += 26; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

func benchBM25(ctx context.Context, r *report, n int) error {
	docs := sentences(n, 1)
	short, long := sentences(150, 2), sentences(150, 3)
	for i := range short {
		short[i] = short[i][:4]
	}
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return err
	}
	ix, err := sparse.Open(nil)
	if err != nil {
		return err
	}
	defer ix.Close()
	dir, err := os.MkdirTemp("", "vimbank-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer, m.ScoringModel = simple.Name, index.BM25Scoring
	other, err := bleve.New(dir+"/bleve", m)
	if err != nil {
		return err
	}
	defer other.Close()
	for from := 0; from < n; from += 1000 {
		to := min(from+1000, n)
		batch, ds := other.NewBatch(), make([]sparse.Doc, 0, 1000)
		for i := from; i < to; i++ {
			ds = append(ds, sparse.Doc{ID: id(i), Rev: 1, Facets: memtypes.Facets{Scope: scope, Kind: memtypes.Knowledge, Layer: memtypes.Raw},
				Fields: map[sparse.Field][]string{sparse.Text: docs[i]}})
			if err := batch.Index(string(id(i)), map[string]string{"text": strings.Join(docs[i], " ")}); err != nil {
				return err
			}
		}
		if err := ix.Upsert(ctx, ds); err != nil {
			return err
		}
		if err := other.Batch(batch); err != nil {
			return err
		}
	}
	ours := func(qs [][]string) func(int) error {
		return func(i int) error {
			q := sparse.Query{Field: sparse.Text, K: top, Filter: memtypes.Filter{Scope: scope}}
			for _, w := range qs[i] {
				q.Terms = append(q.Terms, sparse.Term{Token: w})
			}
			_, err := ix.Search(ctx, q)
			return err
		}
	}
	theirs := func(qs [][]string) func(int) error {
		return func(i int) error {
			q := bleve.NewMatchQuery(strings.Join(qs[i], " "))
			q.SetField("text")
			_, err := other.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, top, 0, false))
			return err
		}
	}
	took, err := alternate(len(short), ours(short), theirs(short), ours(long), theirs(long))
	if err != nil {
		return err
	}
	r.info("bm25: 4 words, a query", ms(took[0]), "ms")
	r.info("bm25: bleve, 4 words", ms(took[1]), "ms")
	r.atMost("bm25: 4 words / bleve", float64(took[0])/float64(took[1]), .10)
	r.info("bm25: a sentence, a query", ms(took[2]), "ms")
	r.atMost("bm25: a sentence / bleve", float64(took[2])/float64(took[3]), .10)
	return nil
}
