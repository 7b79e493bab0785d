package qdrant_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// BenchmarkUpsert writes batches of 256 new memories of 384 dimensions, each of
// a revision of its own, as an outbox hands them out, and then once more.
func BenchmarkUpsert(b *testing.B) {
	ix := made(b, open(b, live.Qdrant(b), qdrant.Options{Dim: 384, Timeout: time.Minute}), "one")
	vs := around(rand.New(rand.NewPCG(1, 2)), 256, 384)
	for _, name := range []string{"new", "again"} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				all := numbered(b, vs)
				for i := range all {
					all[i].ID, all[i].Rev = id(n+i), uint64(n+i+1)
				}
				n += len(all)
				must(b, ix.Upsert(b.Context(), all))
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "memories/s")
		})
	}
}

// BenchmarkSearch asks for ten of 8,000.
func BenchmarkSearch(b *testing.B) {
	ix := made(b, open(b, live.Qdrant(b), qdrant.Options{Dim: 384, Timeout: time.Minute}), "one")
	vs := around(rand.New(rand.NewPCG(1, 2)), 8000, 384)
	must(b, ix.Upsert(b.Context(), numbered(b, vs)))
	n := 0
	for b.Loop() {
		q := ask(b, 10)
		q.Vector = vs[n%len(vs)]
		found(b, ix, q)
		n++
	}
}
