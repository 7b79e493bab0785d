package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
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

// benchBank is built once: it is the same for all benchmarks.
var benchBank = sync.OnceValue(func() []memtypes.Vector {
	return sentences(rand.New(rand.NewPCG(7, 7)), benchRows+200, benchDim)
})

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
