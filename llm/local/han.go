package local

const (
	hanBytes    = 3   // of every Han character in UTF-8
	maxWord     = 6   // characters of the longest word looked for
	unknownCost = 200 // of a character that has no row: probability e^-20
)

// path is the scratch and the result of a cut.
type path struct {
	words []hanWord
	cost  []int32 // least cost of the characters before i
	step  []uint8 // characters of the last word on that way
	row   []int32 // its row, -1 for an unknown character
}

// hanWord is a word in a run: bytes [at, end), and its row or -1.
type hanWord struct{ row, at, end int }

// cut finds the most probable words of a run of Han characters (Viterbi, each
// word by itself). Where two ways are equal, the one with the longer last word
// wins. A character without a row is a word of its own.
func (t *table) cut(run []byte, p *path) {
	n := len(run) / hanBytes
	p.grow(n)
	for i := range n {
		t.extend(run, i, n, p)
	}
	p.words = p.words[:0]
	for i := n; i > 0; i -= int(p.step[i]) {
		at := (i - int(p.step[i])) * hanBytes
		p.words = append(p.words, hanWord{int(p.row[i]), at, i * hanBytes})
	}
	for i, j := 0, len(p.words)-1; i < j; i, j = i+1, j-1 {
		p.words[i], p.words[j] = p.words[j], p.words[i]
	}
}

// extend tries all words that begin at character i.
func (t *table) extend(run []byte, i, n int, p *path) {
	h := uint32(wordSeed)
	known := false
	for j := i + 1; j <= min(n, i+maxWord); j++ {
		for _, c := range run[(j-1)*hanBytes : j*hanBytes] {
			h = (h ^ uint32(c)) * fnvPrime
		}
		row := t.find(h, run[i*hanBytes:j*hanBytes], false)
		if row < 0 || t.cost[row] == noCost {
			continue
		}
		known = known || j == i+1
		p.relax(i, j, row, int32(t.cost[row]))
	}
	if !known {
		p.relax(i, i+1, -1, unknownCost)
	}
}

func (p *path) relax(i, j, row int, cost int32) {
	if cost += p.cost[i]; cost < p.cost[j] {
		p.cost[j], p.step[j], p.row[j] = cost, uint8(j-i), int32(row)
	}
}

// grow makes room for n characters, none of them reached yet.
func (p *path) grow(n int) {
	if cap(p.cost) <= n {
		p.cost, p.step, p.row = make([]int32, n+1), make([]uint8, n+1), make([]int32, n+1)
	}
	p.cost, p.step, p.row = p.cost[:n+1], p.step[:n+1], p.row[:n+1]
	p.cost[0] = 0
	for i := 1; i <= n; i++ {
		p.cost[i] = 1<<31 - 1
	}
}
