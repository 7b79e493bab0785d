package fusion

import (
	"cmp"
	"slices"
	"time"

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
	score := a.scorer(p)
	order := make([]placed, len(a.cands))
	for i := range a.cands {
		reasons := score(i)
		order[i] = placed{place: i, score: total(reasons), when: a.cands[i].Memory.When(), reasons: reasons}
	}
	slices.SortFunc(order, before)
	hits := make([]memtypes.Hit, len(order))
	for j, p := range order {
		c := &a.cands[p.place]
		hits[j] = memtypes.Hit{Memory: c.Memory, Score: p.score, Retention: c.Retention, Reasons: p.reasons}
	}
	return fold(hits)
}

// placed is a candidate with what it is sorted by.
type placed struct {
	place   int // among the candidates, which are in the order of their IDs
	score   float64
	when    time.Time
	reasons []memtypes.Reason
}

// total sums the reasons. Every recipe makes their points sum to [0,1]; the
// clamp takes off only what floating point adds.
func total(reasons []memtypes.Reason) float64 {
	s := 0.0
	for _, r := range reasons {
		s += r.Points
	}
	return unit(s)
}

// before orders candidates: score, then the newer, then the ID.
func before(x, y placed) int {
	if c := cmp.Compare(y.score, x.score); c != 0 {
		return c
	}
	if c := y.when.Compare(x.when); c != 0 {
		return c
	}
	return x.place - y.place
}

// union joins the candidates of one ID and orders them by ID, so that sums
// over candidates do not depend on the order they came in.
func union(cands []Candidate) []Candidate {
	order := make([]int, len(cands))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(cands[x].Memory.ID, cands[y].Memory.ID) })
	out := make([]Candidate, 0, len(cands))
	for _, i := range order {
		if n := len(out); n == 0 || out[n-1].Memory.ID != cands[i].Memory.ID {
			out = append(out, cands[i])
		} else {
			out[n-1].Scores.join(&cands[i].Scores)
		}
	}
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
