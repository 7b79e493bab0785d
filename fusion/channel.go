package fusion

import (
	"cmp"
	"math"
	"slices"
)

// Channel is one way in which a memory was scored against the query.
type Channel uint8

// The channels. BM25 channels are unbounded and absent means 0; the cosine
// channels lie in [-1,1] and absent means not among the best.
const (
	Text    Channel = iota // BM25 of the memory's own text
	Turn                   // BM25 of the turn after the question it answers
	Window                 // BM25 of the turn between its neighbours
	Vector                 // cosine with the memory's own vector
	Context                // cosine with the vector averaged over neighbours
	channels
)

// String is the channel's name in reasons and in logs.
func (c Channel) String() string {
	switch c {
	case Text:
		return "text"
	case Turn:
		return "turn"
	case Window:
		return "window"
	case Vector:
		return "dense"
	case Context:
		return "context"
	}
	return "unknown"
}

// Scores holds what each channel gave a memory. The zero value has none.
type Scores struct {
	value [channels]float64
	has   [channels]bool
}

// Set notes that c gave v. A value that is not finite is dropped: a channel
// that cannot say a number has said nothing.
func (s *Scores) Set(c Channel, v float64) {
	if c < channels && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.value[c], s.has[c] = v, true
	}
}

// Get returns what c gave, and whether it gave anything.
func (s *Scores) Get(c Channel) (float64, bool) {
	if c >= channels {
		return 0, false
	}
	return s.value[c], s.has[c]
}

// join keeps the higher of what each channel gave here and in other.
func (s *Scores) join(other *Scores) {
	for c := range channels {
		if v, ok := other.Get(c); ok && (!s.has[c] || v > s.value[c]) {
			s.value[c], s.has[c] = v, true
		}
	}
}

// Depth is how many of a channel's best matches the ranking must see: a cosine
// is judged by its rise over the one at this place.
const Depth = 100

// Stat describes one channel's answer.
type Stat struct {
	Best float64 // the highest score
	Low  float64 // the one at Depth, or the least of all if there are fewer
}

// StatOf describes scores, which must be in descending order.
func StatOf(scores []float64) Stat {
	if len(scores) == 0 {
		return Stat{}
	}
	return Stat{Best: scores[0], Low: scores[min(len(scores), Depth)-1]}
}

// answers has one for each channel.
type answers [channels]Stat

// answersOf describes what the channels gave the candidates at places.
func answersOf(cands []Candidate, places []int) *answers {
	var out answers
	scores := make([]float64, 0, len(places))
	for c := range channels {
		scores = scores[:0]
		for _, i := range places {
			if v, ok := cands[i].Scores.Get(c); ok {
				scores = append(scores, v)
			}
		}
		slices.SortFunc(scores, func(x, y float64) int { return cmp.Compare(y, x) })
		out[c] = StatOf(scores)
	}
	return &out
}

// share is s's score in c as a part of the best, in [0,1].
func (a *answers) share(c Channel, s *Scores) float64 {
	if a[c].Best <= 0 {
		return 0
	}
	return unit(s.value[c] / a[c].Best)
}

// rise is how far s's score in c rises from the one at Depth to the best, in
// [0,1]: a cosine means little by itself, its lead does.
func (a *answers) rise(c Channel, s *Scores) float64 {
	v, ok := s.Get(c)
	if !ok || a[c].Best <= a[c].Low {
		return 0
	}
	return unit((v - a[c].Low) / (a[c].Best - a[c].Low))
}

// unit brings v into [0,1].
func unit(v float64) float64 { return min(max(v, 0), 1) }
