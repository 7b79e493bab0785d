package local

import (
	"cmp"
	"math"
	"slices"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/llm"
)

const (
	minCosine = 0.3 // what is less near is no neighbour
	scanBlock = 512 // rows compared at once: they stay in the processor's cache for all words
)

// Neighbours gives for each of words the n words whose rows have the highest
// cosine with its own, best first, ties by row; fewer if fewer lie above .3. The
// word itself is not among them, nor are pieces of words. A word is looked up as
// Weight does; one that has no row has no neighbours. Each
// word is compared with the whole table, for a fraction of a millisecond:
// nothing is remembered here, that is left to who knows which words come again.
func (e *Embedder) Neighbours(words []string, n int) [][]llm.Neighbour {
	out := make([][]llm.Neighbour, len(words))
	rows := make([]int, len(words))
	none := true
	for i, w := range words {
		rows[i] = e.lookup(w)
		none = none && rows[i] < 0
	}
	if none || n <= 0 {
		return out
	}
	for i, list := range e.scan(rows) {
		slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.cosine, a.cosine) })
		for _, x := range list[:min(n, len(list))] {
			out[i] = append(out[i], llm.Neighbour{Word: e.name(x.row), Cosine: float64(min(x.cosine, 1))})
		}
	}
	return out
}

// near is a row above minCosine.
type near struct {
	row    int
	cosine float32
}

// scan compares rows (one below 0: none) with the whole table.
func (e *Embedder) scan(rows []int) [][]near {
	inverse := e.inverse()
	fast := kernel.Best()
	lists := make([][]near, len(rows))
	var dots [scanBlock]int32
	for first := 0; first < e.rows; first += scanBlock {
		block := dots[:min(scanBlock, e.rows-first)]
		for i, row := range rows {
			if row < 0 {
				continue
			}
			fast.DotInt8(e.codes[row*e.dim:(row+1)*e.dim], e.codes[first*e.dim:], block)
			for j, d := range block {
				c := float32(d) * inverse[first+j] * inverse[row]
				if c > minCosine && first+j != row {
					lists[i] = append(lists[i], near{first + j, c})
				}
			}
		}
	}
	return lists
}

// inverseNorms is 1 / norm of the codes of each row; 0 for pieces, which are
// nobody's neighbours.
func (t *table) inverseNorms() []float32 {
	inverse := make([]float32, t.rows)
	fast := kernel.Best()
	var square [1]int32
	for i := range inverse {
		q := t.codes[i*t.dim : (i+1)*t.dim]
		fast.DotInt8(q, q, square[:])
		if square[0] > 0 && !t.isPiece(i) {
			inverse[i] = float32(1 / math.Sqrt(float64(square[0])))
		}
	}
	return inverse
}
