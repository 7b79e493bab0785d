package fusion

import (
	"cmp"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// bm25 is the text channel alone, as a share of the best.
func (a *asked) bm25(i int) []memtypes.Reason {
	return []memtypes.Reason{reason("bm25", a.all.share(Text, &a.cands[i].Scores), 1)}
}

// dense is the cosine alone.
func (a *asked) dense(i int) []memtypes.Reason {
	return []memtypes.Reason{reason("cosine", a.cosine(i), 1)}
}

// rrfK is the constant of reciprocal rank fusion, as in its paper.
const rrfK = 60

// rrf is reciprocal rank fusion of the text and the dense channel down to
// Depth: 1/(60+rank) from each, over what rank 1 in both would give.
func (a *asked) rrf() func(int) []memtypes.Reason {
	text, vector := a.ranks(Text), a.ranks(Vector)
	part := func(rank int) float64 {
		if rank == 0 || rank > Depth {
			return 0
		}
		return (rrfK + 1) / float64(rrfK+rank)
	}
	return func(i int) []memtypes.Reason {
		return []memtypes.Reason{reason("bm25 rank", part(text[i]), .5), reason("cosine rank", part(vector[i]), .5)}
	}
}

// ranks gives each candidate its rank in c, 1 the best, 0 for absent. Equal
// scores rank by ID, the order of a.cands.
func (a *asked) ranks(c Channel) []int {
	var with []int
	for i := range a.cands {
		if _, ok := a.cands[i].Scores.Get(c); ok {
			with = append(with, i)
		}
	}
	slices.SortStableFunc(with, func(x, y int) int {
		return cmp.Compare(a.cands[y].Scores.value[c], a.cands[x].Scores.value[c])
	})
	out := make([]int, len(a.cands))
	for rank, i := range with {
		out[i] = rank + 1
	}
	return out
}

// convex is half of each channel, min-max normalised over the candidates; a
// candidate that a channel did not find has that channel's least.
func (a *asked) convex() func(int) []memtypes.Reason {
	text, vector := a.span(Text), a.span(Vector)
	return func(i int) []memtypes.Reason {
		return []memtypes.Reason{reason("bm25", text(i), .5), reason("cosine", vector(i), .5)}
	}
}

// span maps c linearly so that its least candidate has 0 and its best 1. BM25
// does not return what it gives 0, so an absent candidate pulls its least there.
func (a *asked) span(c Channel) func(int) float64 {
	low, best := 0.0, 0.0
	found, absent := false, false
	for i := range a.cands {
		v, ok := a.cands[i].Scores.Get(c)
		switch {
		case !ok:
			absent = true
		case !found:
			low, best, found = v, v, true
		default:
			low, best = min(low, v), max(best, v)
		}
	}
	if absent && c == Text {
		low = 0
	}
	return func(i int) float64 {
		v, ok := a.cands[i].Scores.Get(c)
		if !ok || best <= low {
			return 0
		}
		return min(max((v-low)/(best-low), 0), 1)
	}
}
