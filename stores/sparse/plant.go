package sparse

import (
	"math"
	"slices"
)

// plantMost is the most documents, for each one wanted, whose scores plant finds out.
const plantMost = 4

// plantDepth is the most documents wanted for which planting pays: with more,
// the first windows find the floor as soon.
const plantDepth = 32

// plant raises the floor before the first window: the documents of the list
// that can give most score well, and the k-th best of some of them is a floor
// for all.
func (s *search) plant() {
	k := s.top.k
	if s.exhaustive || s.top.bySession || k > plantDepth || len(s.clauses) < 2 {
		return
	}
	var from *cursor
	for _, l := range slices.Backward(s.order) {
		if int(l.list.df) >= k {
			from = l
			break
		}
	}
	if from == nil {
		return
	}
	var room [plantDepth * plantMost]float32
	scores := room[:0]
	for _, b := range from.list.blocks {
		for _, p := range b.posts {
			if len(scores) < k*plantMost && s.admits(p.doc()) {
				scores = append(scores, s.whole(p.doc()))
			}
		}
		if len(scores) == k*plantMost {
			break
		}
	}
	for i := range s.cursors {
		s.cursors[i].block, s.cursors[i].at = 0, 0
	}
	if len(scores) >= k {
		slices.Sort(scores)
		s.floor = scores[len(scores)-k]
	}
}

// whole is the score of doc. Documents must be asked for in ascending order.
func (s *search) whole(doc uint32) float32 {
	sum := 0.0
	for i := range s.clauses {
		best := uint32(0)
		for j := range s.clauses[i].lists {
			l := &s.clauses[i].lists[j]
			if p, ok := l.seek(doc); ok {
				best = max(best, math.Float32bits(s.score(l, p)))
			}
		}
		sum += float64(math.Float32frombits(best))
	}
	return float32(sum)
}
