package qdrant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// TestRecall: with the graph, also over bytes, at least 98 of 100 of the ten
// nearest are found (95 over bits, which are for more dimensions than these),
// and with exact search all, in order, as the index in this process has them.
func TestRecall(t *testing.T) {
	addr := live.Qdrant(t)
	const dim, n, questions = 384, 8000, 60
	vs := around(rand.New(rand.NewPCG(1, 2)), n+questions, dim)
	flat, err := dense.Open(dim, nil)
	must(t, err)
	defer flat.Close()
	for kind, least := range map[qdrant.Quantization]float64{qdrant.Full: .98, qdrant.Scalar: .98, qdrant.Binary: .95} {
		t.Run(string(kind), func(t *testing.T) {
			prefix, c := unique(), raw(t, addr)
			t.Cleanup(func() { tidy(t, addr, prefix) })
			o := qdrant.Options{Prefix: prefix, Dim: dim, Quantization: kind, HNSW: qdrant.HNSW{Above: 1000}, Timeout: time.Minute}
			ix := made(t, open(t, addr, o), "one")
			o.Exact = true
			exact := made(t, open(t, addr, o), "one")
			for batch := range slices.Chunk(numbered(t, vs[:n]), 1000) {
				must(t, ix.Upsert(t.Context(), batch))
				must(t, flat.Upsert(t.Context(), batch))
			}
			info, err := c.GetCollectionInfo(t.Context(), prefix+".one")
			for end := time.Now().Add(2 * time.Minute); err == nil && info.GetIndexedVectorsCount() < n/2 && time.Now().Before(end); {
				time.Sleep(200 * time.Millisecond) // a graph is built behind the writes
				info, err = c.GetCollectionInfo(t.Context(), prefix+".one")
			}
			must(t, err)
			if info.GetIndexedVectorsCount() < n/2 {
				t.Fatalf("%d vectors are in a graph, want most of %d, or this shows nothing", info.GetIndexedVectorsCount(), n)
			}
			hits, equal := 0, 0
			for _, v := range vs[n:] {
				q := ask(t, 10)
				q.Vector = v
				want := found(t, exact, q)
				got := found(t, ix, q)
				for _, id := range got {
					if slices.Contains(want, id) {
						hits++
					}
				}
				here, err := flat.Search(t.Context(), q)
				must(t, err)
				if slices.EqualFunc(want, here, func(id memtypes.ID, h memtypes.Scored) bool { return id == h.ID }) {
					equal++
				}
			}
			if got := float64(hits) / (10 * questions); got < least {
				t.Errorf("recall@10 = %.4f, want at least %v", got, least)
			}
			if equal < questions {
				t.Errorf("%d of %d exact answers are as in process, want all", equal, questions)
			}
		})
	}
}

func numbered(t testing.TB, vs []memtypes.Vector) []dense.Doc {
	var out []dense.Doc
	for n, v := range vs {
		d := doc(t, n, 1)
		d.Text, d.Facets.Session = v, fmt.Sprint("s", n%100)
		out = append(out, d)
	}
	return out
}

// around makes vectors of length 1 around many topics.
func around(r *rand.Rand, n, dim int) []memtypes.Vector {
	topics := make([]memtypes.Vector, 1+n/100)
	for i := range topics {
		topics[i] = spread(r, dim, nil)
	}
	out := make([]memtypes.Vector, n)
	for i := range out {
		out[i] = spread(r, dim, topics[r.IntN(len(topics))])
	}
	return out
}

func spread(r *rand.Rand, dim int, topic memtypes.Vector) memtypes.Vector {
	v := make(memtypes.Vector, dim)
	var sum float64
	for i := range v {
		x := r.NormFloat64() / math.Sqrt(float64(dim))
		if topic != nil {
			x += float64(topic[i])
		}
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
