package dense

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

const (
	benchRows = 100_000
	benchDim  = 384
)

// sentences makes n vectors that lie like those of sentences: around many
// topics, with a spread that falls off over the dimensions of a turned space.
func sentences(r *rand.Rand, n, dim int) []memtypes.Vector {
	topics := make([]memtypes.Vector, 1+n/100)
	for i := range topics {
		topics[i] = spread(r, dim)
	}
	out := make([]memtypes.Vector, n)
	for i := range out {
		v, topic := spread(r, dim), topics[r.IntN(len(topics))]
		for j := range v {
			v[j] += .8 * topic[j]
		}
		out[i] = turned(v)
	}
	return out
}

func spread(r *rand.Rand, dim int) memtypes.Vector {
	v := make(memtypes.Vector, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64() / (1 + float64(i)/float64(dim)*8))
	}
	return v
}

// turned mixes neighbours of v at growing distances, so that its spread is
// shared by all dimensions, and scales it to length 1.
func turned(v memtypes.Vector) memtypes.Vector {
	for _, step := range []int{1, 2, 4, 8, 16, 32, 64} {
		for i := range v {
			if j := i + step; i&step == 0 && j < len(v) {
				v[i], v[j] = v[i]+v[j], v[i]-v[j]
			}
		}
		rand.New(rand.NewPCG(uint64(step), 0)).Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	}
	inverse := float32(1 / norm(v))
	for i := range v {
		v[i] *= inverse
	}
	return v
}

func numbered(n int) memtypes.ID { return memtypes.ID(fmt.Sprintf("id-%07d", n)) }

func scopeOf(tb testing.TB, user string) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope("", user, "", "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// filled is an index of vs; document i is of session i%100.
func filled(tb testing.TB, vs []memtypes.Vector, o *Options) *Flat {
	tb.Helper()
	f, err := Open(len(vs[0]), o)
	if err != nil {
		tb.Fatal(err)
	}
	fill(tb, f, vs)
	return f
}

func fill(tb testing.TB, f *Flat, vs []memtypes.Vector) {
	tb.Helper()
	scope, docs := scopeOf(tb, "ann"), make([]Doc, 0, 500)
	for i, v := range vs {
		docs = append(docs, Doc{ID: numbered(i), Rev: 1, Text: v, Facets: memtypes.Facets{
			Scope: scope, Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: fmt.Sprint("s", i%100),
		}})
		if len(docs) == cap(docs) || i == len(vs)-1 {
			if err := f.Upsert(tb.Context(), docs); err != nil {
				tb.Fatal(err)
			}
			docs = docs[:0]
		}
	}
}

// bank is built once: it is the same for all benchmarks.
var benchBank = sync.OnceValue(func() []memtypes.Vector {
	return sentences(rand.New(rand.NewPCG(7, 7)), benchRows+200, benchDim)
})

func found(tb testing.TB, f *Flat, q Query) []memtypes.ID {
	tb.Helper()
	hits, err := f.Search(tb.Context(), q)
	if err != nil {
		tb.Fatal(err)
	}
	ids := make([]memtypes.ID, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}

// nearest is the exact k nearest of vs, by cosine in float64, ties by ID.
func nearest(vs []memtypes.Vector, q memtypes.Vector, k int) []memtypes.ID {
	type scored struct {
		i int
		s float64
	}
	all := make([]scored, len(vs))
	for i, v := range vs {
		var s float64
		for j, x := range v {
			s += float64(x) * float64(q[j])
		}
		all[i] = scored{i, s / norm(v)}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.s, a.s), cmp.Compare(a.i, b.i)) })
	ids := make([]memtypes.ID, min(k, len(all)))
	for i := range ids {
		ids[i] = numbered(all[i].i)
	}
	return ids
}

// recall is the share of want that got has.
func recall(want, got []memtypes.ID) float64 {
	n := 0
	for _, id := range want {
		if slices.Contains(got, id) {
			n++
		}
	}
	return float64(n) / float64(len(want))
}

// quiet times op, and reports besides the mean its shortest time: what it costs
// on a machine that others leave alone for a moment.
func quiet(b *testing.B, op func()) {
	shortest := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		op()
		shortest = min(shortest, time.Since(start))
	}
	b.ReportMetric(float64(shortest.Nanoseconds())/1e3, "min-us/op")
}

// BenchmarkSearch scans 100,000 x 384 with one goroutine, and reports the
// recall of the top 10 against the exact cosine.
func BenchmarkSearch(b *testing.B) {
	all := benchBank()
	vs, queries := all[:benchRows], all[benchRows:]
	exact := make([][]memtypes.ID, 40)
	for i := range exact {
		exact[i] = nearest(vs, queries[i], 10)
	}
	f := filled(b, vs, &Options{Workers: 1})
	scope := scopeOf(b, "ann")
	for _, k := range kernel.All() {
		for _, mode := range []struct {
			name   string
			binary int
		}{{"int8", -1}, {"bits", 1}} {
			b.Run(fmt.Sprintf("%s/%v", mode.name, k), func(b *testing.B) {
				f.kernel, f.opt.BinaryAbove = k, mode.binary
				var sum float64
				for i, want := range exact {
					sum += recall(want, found(b, f, Query{Vector: queries[i], K: 10, Filter: memtypes.Filter{Scope: scope}}))
				}
				n := 0
				quiet(b, func() {
					found(b, f, Query{Vector: queries[n%len(queries)], K: 10, Filter: memtypes.Filter{Scope: scope}})
					n++
				})
				b.ReportMetric(sum/float64(len(exact)), "recall@10")
			})
		}
	}
}

// BenchmarkFiltered admits 1 % of the bank, spread evenly.
func BenchmarkFiltered(b *testing.B) {
	all := benchBank()
	f := filled(b, all[:benchRows], &Options{Workers: 1})
	quiet(b, func() {
		found(b, f, Query{Vector: all[benchRows], K: 10, Filter: memtypes.Filter{Scope: scopeOf(b, "ann"), Session: "s17"}})
	})
}

// BenchmarkFloatScan is the yardstick: every float32 vector of the same bank.
func BenchmarkFloatScan(b *testing.B) {
	all := benchBank()
	rows := make([]float32, 0, benchRows*benchDim)
	for _, v := range all[:benchRows] {
		rows = append(rows, v...)
	}
	out := make([]float64, benchRows)
	for _, k := range kernel.All() {
		b.Run(k.String(), func(b *testing.B) {
			quiet(b, func() { k.DotFloat32(all[benchRows], rows, out) })
		})
	}
}

func BenchmarkUpsert(b *testing.B) {
	vs := sentences(rand.New(rand.NewPCG(7, 7)), 5000, benchDim)
	for b.Loop() {
		filled(b, vs, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(vs)), "ns/vector")
}

func BenchmarkSnapshot(b *testing.B) {
	f := filled(b, benchBank()[:benchRows], nil)
	path := b.TempDir() + "/dense.snap"
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if err := f.Save(path, 1, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Load(path, benchDim, "", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
