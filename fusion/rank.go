package fusion

import (
	"cmp"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Rank orders candidates by how well they answer q under profile p, best
// first; o may be nil. The candidates must hold, for each kind, the Depth best
// of each channel that p.Needs names (or all there are): scores are judged
// against the best of their channel. More of them, and scores in channels that
// did not find a candidate themselves, do no harm.
//
// The same memory handed in twice (one channel found it, then another) is
// joined, the scores of both kept. Memories that say the same thing become one
// hit that names the others in Same; see package memtypes. Ties go to the newer
// memory, then to the smaller ID, so the order of cands never matters.
func Rank(q Query, cands []Candidate, p Profile, o *Options) []memtypes.Hit {
	a := &asked{Query: q, cands: union(cands)}
	if o != nil {
		a.opts = *o
	}
	places := make([]int, len(a.cands))
	for i := range places {
		places[i] = i
	}
	a.all = answersOf(a.cands, places)
	for c, stat := range q.Stats {
		if c < channels {
			a.all[c] = stat
		}
	}
	hits := make([]memtypes.Hit, len(a.cands))
	score := a.scorer(p)
	for i := range a.cands {
		hits[i] = hitOf(&a.cands[i], score(i))
	}
	slices.SortFunc(hits, before)
	return fold(hits)
}

// hitOf sums the reasons. Every recipe makes their points sum to [0,1]; the
// clamp takes off only what floating point adds.
func hitOf(c *Candidate, reasons []memtypes.Reason) memtypes.Hit {
	s := 0.0
	for _, r := range reasons {
		s += r.Points
	}
	return memtypes.Hit{Memory: c.Memory, Score: unit(s), Retention: c.Retention, Reasons: reasons}
}

// before orders hits: score, then the newer, then the ID.
func before(x, y memtypes.Hit) int {
	return cmp.Or(
		cmp.Compare(y.Score, x.Score),
		y.Memory.When().Compare(x.Memory.When()),
		cmp.Compare(x.Memory.ID, y.Memory.ID),
	)
}

// union joins the candidates of one ID and orders them by ID, so that sums
// over candidates do not depend on the order they came in.
func union(cands []Candidate) []Candidate {
	at := make(map[memtypes.ID]int, len(cands))
	out := make([]Candidate, 0, len(cands))
	for _, c := range cands {
		i, ok := at[c.Memory.ID]
		if !ok {
			at[c.Memory.ID] = len(out)
			out = append(out, c)
			continue
		}
		for ch := range channels {
			if v, ok := c.Scores.Get(ch); ok {
				if old, had := out[i].Scores.Get(ch); !had || v > old {
					out[i].Scores.Set(ch, v)
				}
			}
		}
	}
	slices.SortFunc(out, func(x, y Candidate) int { return cmp.Compare(x.Memory.ID, y.Memory.ID) })
	return out
}

// asked is a query with its candidates and what is worked out once for all.
type asked struct {
	Query
	cands []Candidate // by ID
	all   *answers    // over the candidates of every kind
	opts  Options
}

// cosine is candidate i's cosine, 0 where it is unknown or negative.
func (a *asked) cosine(i int) float64 { return unit(a.cands[i].Scores.value[Vector]) }

// reason makes one number of a hit's score.
func reason(name string, value, weight float64) memtypes.Reason {
	return memtypes.Reason{Name: name, Value: value, Weight: weight, Points: value * weight}
}

// scorer picks the recipe of p: a function from a candidate's place to reasons.
func (a *asked) scorer(p Profile) func(i int) []memtypes.Reason {
	switch p {
	case Paper:
		return a.paper
	case BM25:
		return a.bm25
	case Dense:
		return a.dense
	case RRF:
		return a.rrf()
	case Convex:
		return a.convex()
	}
	return a.recipes()
}
