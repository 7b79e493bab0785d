package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// BenchmarkUpsert writes turns with their context, a batch of a thousand each.
func BenchmarkUpsert(b *testing.B) {
	o := options(b)
	o.Refresh = elastic.Later
	ix := generation(b, store(b, o), "g")
	r := rand.New(rand.NewPCG(1, 1))
	n := 0
	upsert(b, ix, doc(b, "acme", 0, 1, "first")) // makes the index
	for b.Loop() {
		docs := make([]sparse.Doc, 1000)
		for i := range docs {
			n++
			docs[i] = benchDoc(b, r, n)
		}
		upsert(b, ix, docs...)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "memories/s")
}

// benchDoc has a text of 40 words, and 300 around it.
func benchDoc(b *testing.B, r *rand.Rand, n int) sparse.Doc {
	d := doc(b, "acme", n, uint64(n), benchWords(r, 40)...)
	d.Fields[sparse.Turn], d.Fields[sparse.Window] = benchWords(r, 60), benchWords(r, 240)
	return d
}

func benchWords(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("w", min(r.IntN(30_000), r.IntN(30_000), r.IntN(30_000)))
	}
	return out
}

// BenchmarkSearch asks for ten words among 20,000 memories, directly and by what
// is live.
func BenchmarkSearch(b *testing.B) {
	o := options(b)
	o.Refresh = elastic.Later
	s := store(b, o)
	ix := generation(b, s, "g")
	r := rand.New(rand.NewPCG(1, 1))
	for n := 0; n < 20_000; {
		var docs []sparse.Doc
		for range 1000 {
			n++
			docs = append(docs, benchDoc(b, r, n))
		}
		upsert(b, ix, docs...)
	}
	if err := s.Switch(b.Context(), "g"); err != nil {
		b.Fatal(err)
	}
	for name, of := range map[string]sparse.Index{"index": ix, "serving": s.Serving()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				q := query(b, "acme", benchWords(r, 10)...)
				if len(found(b, of, q)) == 0 {
					b.Fatal("nothing found")
				}
			}
		})
	}
	b.Run("statistics", func(b *testing.B) {
		for b.Loop() {
			if _, err := ix.Statistics(b.Context(), "acme", sparse.Window, benchWords(r, 10)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
