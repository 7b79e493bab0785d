package local

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/llm"
)

const (
	minCosine  = 0.3  // what is less near is no neighbour
	cachedNear = 32   // neighbours remembered for a word
	cachedRows = 2048 // words remembered at the least, twice that at most
	scanBlock  = 1024 // rows compared at once
)

// neighbours is what Neighbours remembers.
type neighbours struct {
	once    sync.Once
	inverse []float32 // 1 / norm of the codes; 0 for pieces, which are nobody's neighbours

	mu         sync.Mutex
	young, old map[int][]llm.Neighbour // guarded by mu; old holds what young held when it was full
}

// Neighbours gives the n words whose rows have the highest cosine with the row
// of word, best first, ties by row; fewer if fewer lie above .3. The word itself
// is not among them, nor are pieces of words. A word is looked up as Weight
// does; one that has no row has no neighbours. The first call for a word reads
// the whole table, about a millisecond; later ones mostly find it remembered.
func (e *Embedder) Neighbours(word string, n int) []llm.Neighbour {
	row := e.lookup(word)
	if row < 0 || n <= 0 {
		return nil
	}
	list, ok := e.near.get(row)
	if !ok || n > cachedNear && len(list) == cachedNear {
		list = e.scan(row)
		e.near.put(row, slices.Clone(list[:min(len(list), cachedNear)]))
	}
	return slices.Clone(list[:min(len(list), n)])
}

// scan compares row with the whole table.
func (e *Embedder) scan(row int) []llm.Neighbour {
	e.near.once.Do(func() { e.near.inverse = e.inverseNorms() })
	query := e.codes[row*e.dim : (row+1)*e.dim]
	fast := kernel.Best()
	var list []llm.Neighbour
	var dots [scanBlock]int32
	for first := 0; first < e.rows; first += scanBlock {
		block := dots[:min(scanBlock, e.rows-first)]
		fast.DotInt8(query, e.codes[first*e.dim:], block)
		for i, d := range block {
			c := float32(d) * e.near.inverse[first+i] * e.near.inverse[row]
			if c > minCosine && first+i != row {
				list = append(list, llm.Neighbour{Word: e.name(first + i), Cosine: float64(min(c, 1))})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b llm.Neighbour) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return list
}

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

func (c *neighbours) get(row int) ([]llm.Neighbour, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, ok := c.young[row]
	if !ok {
		if list, ok = c.old[row]; ok {
			c.keep(row, list)
		}
	}
	return list, ok
}

func (c *neighbours) put(row int, list []llm.Neighbour) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(row, list)
}

// keep remembers list; the caller holds mu. When young is full it becomes old,
// and what was old is forgotten: what is asked for often moves back to young.
func (c *neighbours) keep(row int, list []llm.Neighbour) {
	if len(c.young) >= cachedRows || c.young == nil {
		c.young, c.old = make(map[int][]llm.Neighbour), c.young
	}
	c.young[row] = list
}
