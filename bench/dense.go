package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/philippgille/chromem-go"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

const (
	dim          = 384
	denseQueries = 20
	top          = 10
)

// vectors makes n unit vectors in loose clusters, as sentences lie: a shared
// low-dimensional part and noise.
func vectors(n int, seed uint64) []memtypes.Vector {
	rnd := rand.New(rand.NewPCG(7, 7))
	const clusters = 400
	centre := make([][]float32, clusters)
	for i := range centre {
		centre[i] = make([]float32, dim)
		for d := range centre[i] {
			centre[i][d] = float32(rnd.NormFloat64())
		}
	}
	rnd = rand.New(rand.NewPCG(seed, 9))
	out := make([]memtypes.Vector, n)
	for i := range out {
		v, sq := make(memtypes.Vector, dim), 0.0
		a, b := centre[rnd.IntN(clusters)], centre[rnd.IntN(clusters)]
		for d := range v {
			v[d] = a[d] + .6*b[d] + float32(rnd.NormFloat64())
			sq += float64(v[d]) * float64(v[d])
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(sq))
		}
		out[i] = v
	}
	return out
}

func id(i int) memtypes.ID { return memtypes.ID(fmt.Sprintf("00000000-0000-8000-8000-%012x", i)) }

func benchDense(ctx context.Context, r *report, n int) error {
	vs, qs := vectors(n, 1), vectors(denseQueries, 2)
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return err
	}
	ix, err := dense.Open(dim, &dense.Options{BinaryAbove: -1, Workers: 1})
	if err != nil {
		return err
	}
	defer ix.Close()
	fast, err := dense.Open(dim, &dense.Options{BinaryAbove: 1, Workers: 1})
	if err != nil {
		return err
	}
	defer fast.Close()
	col, err := chromem.NewDB().CreateCollection("bench", nil, func(context.Context, string) ([]float32, error) { return nil, nil })
	if err != nil {
		return err
	}
	for from := 0; from < n; from += 1000 {
		to := min(from+1000, n)
		docs, others := make([]dense.Doc, 0, 1000), make([]chromem.Document, 0, 1000)
		for i := from; i < to; i++ {
			docs = append(docs, dense.Doc{ID: id(i), Rev: 1, Text: vs[i], Facets: memtypes.Facets{Scope: scope, Kind: memtypes.Knowledge, Layer: memtypes.Raw,
				Session: fmt.Sprint(i % 100)}})
			others = append(others, chromem.Document{ID: string(id(i)), Embedding: vs[i], Content: "x"})
		}
		if err := ix.Upsert(ctx, docs); err != nil {
			return err
		}
		if err := fast.Upsert(ctx, docs); err != nil {
			return err
		}
		if err := col.AddDocuments(ctx, others, 1); err != nil {
			return err
		}
	}
	var got, quick [denseQueries][]memtypes.Scored
	search := func(ix *dense.Flat, f memtypes.Filter, keep *[denseQueries][]memtypes.Scored) func(int) error {
		return func(i int) error {
			list, err := ix.Search(ctx, dense.Query{Vector: qs[i], K: top, Filter: f})
			if keep != nil {
				keep[i] = list
			}
			return err
		}
	}
	all := memtypes.Filter{Scope: scope}
	few := memtypes.Filter{Scope: scope, Session: "7"}
	took, err := alternate(denseQueries,
		search(ix, all, &got), search(ix, few, nil), search(fast, all, &quick),
		func(i int) error { _, err := col.QueryEmbedding(ctx, qs[i], top, nil, nil); return err })
	if err != nil {
		return err
	}
	exact, binary := 0.0, 0.0
	for i, q := range qs {
		want := nearest(vs, q)
		exact += overlap(got[i], want) / denseQueries
		binary += overlap(quick[i], want) / denseQueries
	}
	r.info("dense: exact int8 scan, a query", ms(took[0]), "ms")
	r.info("dense: chromem-go, a query", ms(took[3]), "ms")
	r.atMost("dense: exact scan / chromem-go", float64(took[0])/float64(took[3]), .05)
	r.atLeast("dense: recall@10 of the exact scan", exact, .998)
	r.info("dense: a filter of 1 % / exact scan", float64(took[1])/float64(took[0]), "x")
	r.info("dense: binary codes + rescore / exact scan", float64(took[2])/float64(took[0]), "x")
	r.info("dense: recall@10 of binary codes", binary, "")
	return nil
}

// nearest are the top places by exact cosine.
func nearest(vs []memtypes.Vector, q memtypes.Vector) map[memtypes.ID]bool {
	type scored struct {
		i int
		s float64
	}
	all := make([]scored, len(vs))
	for i, v := range vs {
		s := 0.0
		for d := range v {
			s += float64(v[d]) * float64(q[d])
		}
		all[i] = scored{i, s}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if a.s > b.s {
			return -1
		}
		if a.s < b.s {
			return 1
		}
		return 0
	})
	out := map[memtypes.ID]bool{}
	for _, x := range all[:top] {
		out[id(x.i)] = true
	}
	return out
}

func overlap(got []memtypes.Scored, want map[memtypes.ID]bool) float64 {
	n := 0
	for _, s := range got {
		if want[s.ID] {
			n++
		}
	}
	return float64(n) / float64(len(want))
}
