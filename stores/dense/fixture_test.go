package dense

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
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

// gone is a deletion of the numbered documents as of rev.
func gone(rev uint64, ns ...int) []memtypes.Gone {
	out := make([]memtypes.Gone, len(ns))
	for i, n := range ns {
		out[i] = memtypes.Gone{ID: numbered(n), Rev: rev}
	}
	return out
}

// count is how many documents f holds.
func count(tb testing.TB, f *Flat) int {
	tb.Helper()
	n, err := f.Len(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

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

// nearestAt is where the exact k nearest of vs stand, by cosine in float64.
func nearestAt(vs []memtypes.Vector, q memtypes.Vector, k int) []int {
	scores, at := make([]float64, len(vs)), make([]int, len(vs))
	for i, v := range vs {
		for j, x := range v {
			scores[i] += float64(x) * float64(q[j])
		}
		scores[i] /= norm(v)
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return at[:min(k, len(at))]
}

// nearest is the IDs of nearestAt, in an index made by filled.
func nearest(vs []memtypes.Vector, q memtypes.Vector, k int) []memtypes.ID {
	var ids []memtypes.ID
	for _, i := range nearestAt(vs, q, k) {
		ids = append(ids, numbered(i))
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
