package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// zipf draws word numbers as often as natural language does (Mandelbrot's law:
// the n-th commonest word has a share of 1/(n+2.7)). The first are the commonest.
type zipf struct{ sums []float64 }

func newZipf(words int) zipf {
	z := zipf{make([]float64, words)}
	sum := 0.0
	for i := range z.sums {
		sum += 1 / (float64(i) + 2.7)
		z.sums[i] = sum
	}
	return z
}

func (z zipf) draw(r *rand.Rand) int {
	i, _ := slices.BinarySearch(z.sums, r.Float64()*z.sums[len(z.sums)-1])
	return min(i, len(z.sums)-1)
}

// sentences are n sentences of about 15 words out of a language of 60,000.
func sentences(n int, seed uint64) [][]string { return drawn(n, seed, 60_000) }

// drawn is the same out of a language of words.
func drawn(n int, seed uint64, words int) [][]string {
	r, z := rand.New(rand.NewPCG(seed, 1)), newZipf(words)
	out := make([][]string, n)
	for i := range out {
		length := max(3, int(15+5*r.NormFloat64()+math.Abs(4*r.NormFloat64())-3))
		for range length {
			out[i] = append(out[i], fmt.Sprintf("w%d", z.draw(r)))
		}
	}
	return out
}

func benchDocs(tb testing.TB, texts [][]string) []sparse.Doc {
	scope := testScope(tb, "")
	docs := make([]sparse.Doc, len(texts))
	for i, text := range texts {
		docs[i] = sparse.Doc{
			ID: memtypes.ID(fmt.Sprintf("%08x-0000-8000-8000-000000000000", uint32(i)*2654435761)), Rev: uint64(i + 1),
			Facets: memtypes.Facets{Scope: scope, Kind: memtypes.Dialogue, Layer: memtypes.Raw,
				Session: fmt.Sprint(i / 20), When: time.Unix(1.7e9+int64(i)*60, 0)},
			Fields: map[sparse.Field][]string{sparse.Text: text},
		}
	}
	return docs
}

func benchQuery(tb testing.TB, words []string) sparse.Query {
	q := sparse.Query{Field: sparse.Text, K: 10, Filter: memtypes.Filter{Scope: testScope(tb, "")}}
	for _, w := range words {
		q.Terms = append(q.Terms, sparse.Term{Token: w})
	}
	return q
}

// BenchmarkSearch times the ten best of 100,000 sentences for 4 words of an
// unseen sentence, and for all of it.
func BenchmarkSearch(b *testing.B) {
	const n = 100_000
	docs := benchDocs(b, sentences(n, 1))
	asked := sentences(200, 2)
	for _, mode := range []string{"pruned", "exhaustive"} {
		ix := opener(&sparse.Options{Exhaustive: mode == "exhaustive"})(b)
		if err := ix.Upsert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
		for _, tt := range []struct {
			name string
			ask  func(i int) sparse.Query
		}{
			{"words=4", func(i int) sparse.Query { return benchQuery(b, asked[i][:min(4, len(asked[i]))]) }},
			{"words=all", func(i int) sparse.Query { return benchQuery(b, asked[i]) }},
			{"words=nonstop", func(i int) sparse.Query { return benchQuery(b, nonstop(asked[i])) }},
			{"words=expanded", func(i int) sparse.Query { return expand(benchQuery(b, nonstop(asked[i])), i) }},
			{"words=nonstop/sessions", func(i int) sparse.Query {
				q := benchQuery(b, nonstop(asked[i]))
				q.BySession = true
				return q
			}},
			{"words=nonstop/k=200", func(i int) sparse.Query {
				q := benchQuery(b, nonstop(asked[i]))
				q.K = 200
				return q
			}},
			{"words=nonstop/ids=1%", func(i int) sparse.Query {
				q := benchQuery(b, nonstop(asked[i]))
				for j := i; j < n; j += 100 {
					q.Filter.IDs = append(q.Filter.IDs, docs[j].ID)
				}
				return q
			}},
			{"words=nonstop/session", func(i int) sparse.Query {
				q := benchQuery(b, nonstop(asked[i]))
				q.Filter.Session = fmt.Sprint(i)
				return q
			}},
			{"words=nonstop/lasthalf", func(i int) sparse.Query {
				q := benchQuery(b, nonstop(asked[i]))
				q.Filter.From = docs[n/2].Facets.When
				return q
			}},
		} {
			queries := make([]sparse.Query, len(asked))
			for i := range queries {
				queries[i] = tt.ask(i)
			}
			b.Run(mode+"/"+tt.name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := ix.Search(b.Context(), queries[i%len(queries)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRecall times what a recall asks of each field of 100,000 turns of
// dialogue, half of which are of the kind that is asked for: the 200 best for 8
// weighted words with 8 stand-ins each. In a plain bank the words are of a
// whole language, in a narrow one there are 110 of them, so most turns match.
func BenchmarkRecall(b *testing.B) {
	const n = 100_000
	for _, bank := range []struct {
		name  string
		words int
	}{{"plain", 60_000}, {"narrow", 110}} {
		texts, z := drawn(n, 1, bank.words), newZipf(bank.words)
		docs := benchDocs(b, texts)
		for i := range docs {
			near := func(before, after int) []string {
				return slices.Concat(texts[max(i-before, 0):min(i+after+1, n)]...)
			}
			docs[i].Facets.Kind = memtypes.Kinds()[i/512%2]
			docs[i].Fields[sparse.Turn], docs[i].Fields[sparse.Window] = near(1, 0), near(2, 2)
		}
		ix := opener(nil)(b)
		if err := ix.Upsert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
		for _, field := range sparse.Fields() {
			var queries []sparse.Query
			for i, words := range drawn(100, 2, bank.words) {
				r := rand.New(rand.NewPCG(uint64(i), 9))
				q := benchQuery(b, words[:min(8, len(words))])
				q.Field, q.K, q.Filter.Kinds = field, 200, memtypes.Kinds()[:1]
				for j := range q.Terms {
					q.Terms[j].Boost = .2 + .8*r.Float64()
					for k := range 8 {
						q.Terms[j].Near = append(q.Terms[j].Near, sparse.Near{Token: fmt.Sprintf("w%d", z.draw(r)), Weight: .5 - .04*float64(k)})
					}
				}
				queries = append(queries, q)
			}
			b.Run(fmt.Sprintf("%s/%s", bank.name, field), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := ix.Search(b.Context(), queries[i%len(queries)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// nonstop drops the commonest words, as an Analyzer does.
func nonstop(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) <= 3 && strings.Compare(w, "w33") < 0 && w != "w" })
}

// expand gives every term eight stand-ins.
func expand(q sparse.Query, seed int) sparse.Query {
	r, z := rand.New(rand.NewPCG(uint64(seed), 9)), newZipf(60_000)
	for i := range q.Terms {
		for j := range 8 {
			q.Terms[i].Near = append(q.Terms[i].Near, sparse.Near{Token: fmt.Sprintf("w%d", 30+z.draw(r)), Weight: .4 - .03*float64(j)})
		}
	}
	return q
}

// BenchmarkUpsert times a new memory, one that is written again with one more
// word, and one that is written again as it was.
func BenchmarkUpsert(b *testing.B) {
	const n = 100_000
	docs := benchDocs(b, sentences(n, 1))
	ix := opener(nil)(b)
	if err := ix.Upsert(b.Context(), docs); err != nil {
		b.Fatal(err)
	}
	fresh := sentences(1000, 3)
	b.Run("new", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			d := docs[0]
			d.ID = memtypes.ID(fmt.Sprintf("new-%d", i))
			d.Fields = map[sparse.Field][]string{sparse.Text: fresh[i%len(fresh)]}
			if err := ix.Upsert(b.Context(), []sparse.Doc{d}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			d := docs[i*7919%n]
			d.Rev += uint64(n)
			d.Fields = map[sparse.Field][]string{sparse.Text: append(slices.Clone(d.Fields[sparse.Text]), fresh[i%len(fresh)][0])}
			if err := ix.Upsert(b.Context(), []sparse.Doc{d}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("same", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			d := docs[i*7919%n]
			d.Rev += uint64(n)
			if err := ix.Upsert(b.Context(), []sparse.Doc{d}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLoad times the load of 10,000 memories with all their fields, as
// they are in a dialogue: the turn with the one before, and the window of five.
func BenchmarkLoad(b *testing.B) {
	docs := benchDocs(b, sentences(10_000, 1))
	text := func(i int) []string { return docs[min(max(i, 0), len(docs)-1)].Fields[sparse.Text] }
	for i := range docs {
		docs[i].Fields[sparse.Turn] = slices.Concat(text(i-1), text(i))
		docs[i].Fields[sparse.Window] = slices.Concat(text(i-2), text(i-1), text(i), text(i+1), text(i+2))
	}
	ix := opener(nil)(b).(*sparse.Inverted)
	if err := ix.Upsert(b.Context(), docs); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "sparse.snapshot")
	if err := ix.Save(path, 1, ""); err != nil {
		b.Fatal(err)
	}
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if err := ix.Save(path, 1, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := sparse.Load(path, "", nil); err != nil {
				b.Fatal(err)
			}
		}
		file := must(os.Stat(path))
		b.ReportMetric(float64(file.Size())/1e6, "file-MB")
		before := heap()
		loaded, _, err := sparse.Load(path, "", nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/1e6, "heap-MB")
		loaded.Close()
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
