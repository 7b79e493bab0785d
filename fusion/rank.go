package fusion

import (
	"cmp"
	"math"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Rank orders candidates by how well they answer q under profile p, best
// first; o may be nil. The same memory handed in twice (one channel found it,
// then another) is joined, scores of both kept; memories that say the same
// thing (see fold) become one hit that names the others in Same. Ties go to the
// newer memory, then to the smaller ID, so the order of cands never matters.
//
// Scores compare across kinds: each kind's recipe gives 1 to a memory that is
// the best of every channel and fits all that the query names.
func Rank(q Query, cands []Candidate, p Profile, o *Options) []memtypes.Hit {
	cands = union(cands)
	a := newAsked(q, cands, o)
	hits := make([]memtypes.Hit, len(cands))
	score := a.scorer(p)
	for i := range cands {
		hits[i] = hitOf(&cands[i], score(i))
	}
	slices.SortFunc(hits, before)
	return fold(hits)
}

// hitOf sums the reasons. Their points are made to lie in [0,1] by every
// recipe; the clamp only takes off what floating point adds.
func hitOf(c *Candidate, reasons []memtypes.Reason) memtypes.Hit {
	s := 0.0
	for _, r := range reasons {
		s += r.Points
	}
	return memtypes.Hit{Memory: c.Memory, Score: min(max(s, 0), 1), Retention: c.Retention, Reasons: reasons}
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

// asked is a query with what is worked out once for all its candidates.
type asked struct {
	Query
	cands []Candidate
	stats [channels]Stat
	opts  Options
}

func newAsked(q Query, cands []Candidate, o *Options) *asked {
	a := &asked{Query: q, cands: cands}
	if o != nil {
		a.opts = *o
	}
	for c := range channels {
		a.stats[c] = q.Stats[c]
		if a.stats[c].N == 0 {
			a.stats[c] = a.statOfCandidates(c)
		}
	}
	return a
}

func (a *asked) statOfCandidates(c Channel) Stat {
	var s []float64
	for i := range a.cands {
		if v, ok := a.cands[i].Scores.Get(c); ok {
			s = append(s, v)
		}
	}
	slices.SortFunc(s, func(x, y float64) int { return cmp.Compare(y, x) })
	return StatOf(s)
}

// share is candidate i's score in c as a part of the best of the bank, in [0,1].
func (a *asked) share(c Channel, i int) float64 {
	v, _ := a.cands[i].Scores.Get(c)
	if a.stats[c].Best <= 0 {
		return 0
	}
	return min(max(v/a.stats[c].Best, 0), 1)
}

// rise is how far candidate i's score in c rises from the 100th best of the
// bank to the best, in [0,1]: a cosine means little by itself, its lead does.
func (a *asked) rise(c Channel, i int) float64 {
	v, ok := a.cands[i].Scores.Get(c)
	s := a.stats[c]
	if !ok || s.Best <= s.Low {
		return 0
	}
	return min(max((v-s.Low)/(s.Best-s.Low), 0), 1)
}

// cosine is candidate i's cosine, 0 where it is unknown or negative.
func (a *asked) cosine(i int) float64 {
	v, _ := a.cands[i].Scores.Get(Vector)
	return min(max(v, 0), 1)
}

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
	return a.best()
}

// finite guards arithmetic whose inputs the caller chose.
func finite(v, otherwise float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return otherwise
	}
	return v
}
