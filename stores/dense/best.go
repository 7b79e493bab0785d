package dense

import (
	"math"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// candidate is a document with the score that a scan gave it.
type candidate struct {
	score float64
	doc   uint32
}

// best keeps the r best of the candidates that pass, by descending score, ties
// by ID. It gathers up to twice as many before it drops the worse half, so a
// candidate costs a constant time, however many tie.
type best struct {
	r     int
	ids   []memtypes.ID
	floor float64 // what scores below it cannot be among the r best
	heap  []candidate
}

func newBest(r int, ids []memtypes.ID) *best {
	return &best{r: r, ids: ids, floor: math.Inf(-1)}
}

// add takes in a candidate; the caller has compared its score with b.floor.
func (b *best) add(score float64, doc uint32) {
	b.heap = append(b.heap, candidate{score, doc})
	if len(b.heap) >= 2*b.r {
		b.cut()
	}
}

// cut drops all but the r best, and raises the floor to the worst of them.
func (b *best) cut() {
	if len(b.heap) < b.r {
		return
	}
	b.nth(b.heap, b.r-1)
	b.heap = b.heap[:b.r]
	b.floor = b.heap[b.r-1].score
}

// sorted is the r best in order.
func (b *best) sorted() []candidate {
	b.cut()
	slices.SortFunc(b.heap, b.compare)
	return b.heap
}

// compare puts the better candidate first.
func (b *best) compare(x, y candidate) int {
	switch {
	case x.score > y.score:
		return -1
	case x.score < y.score:
		return 1
	}
	return strings.Compare(string(b.ids[x.doc]), string(b.ids[y.doc]))
}

// nth orders c so that c[n] is what sorting would put there, with nothing
// worse before it (Hoare's selection, middle of three as the pivot).
func (b *best) nth(c []candidate, n int) {
	for lo, hi := 0, len(c)-1; lo < hi; {
		pivot := b.median(c[lo], c[(lo+hi)/2], c[hi])
		i, j := lo, hi
		for i <= j {
			for b.compare(c[i], pivot) < 0 {
				i++
			}
			for b.compare(c[j], pivot) > 0 {
				j--
			}
			if i <= j {
				c[i], c[j] = c[j], c[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return
		}
	}
}

func (b *best) median(x, y, z candidate) candidate {
	if b.compare(x, y) > 0 {
		x, y = y, x
	}
	if b.compare(y, z) > 0 {
		y = z
	}
	if b.compare(x, y) > 0 {
		y = x
	}
	return y
}
