package fusion

import "math"

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

// Stat describes a channel's whole answer to the query, of which the
// candidates are a part.
type Stat struct {
	Best float64 // the highest score
	Low  float64 // the 100th best, or the least of all if there are fewer than 100
	N    int     // how many memories the channel returned; zero: the channel did not answer
}

// Depth is how far down a channel Stat.Low looks.
const Depth = 100

// StatOf describes scores, which must be in descending order.
func StatOf(scores []float64) Stat {
	if len(scores) == 0 {
		return Stat{}
	}
	return Stat{Best: scores[0], Low: scores[min(len(scores), Depth)-1], N: len(scores)}
}
