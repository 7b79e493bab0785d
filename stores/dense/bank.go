package dense

import "github.com/vimbank/vimbank/internal/kernel"

// chunkRows is how many rows a full chunk has: a bank grows by chunks, never
// by copying what it has. The first chunk begins smaller and doubles, so that
// a tenant of ten memories does not pay for a thousand.
const (
	chunkRows  = 1024
	firstChunk = 16
)

// bank is an unordered list of rows without gaps: a row that goes is replaced
// by the last one. The owner keeps the number of each document's row.
type bank struct {
	pad    int
	n      int
	chunks []chunk
}

// chunk holds the rows column by column, each column contiguous.
type chunk struct {
	docs  []uint32
	scale []float32
	codes []int8    // pad a row
	vecs  []float32 // pad a row
	bits  []uint64  // pad/64 a row, interleaved as kernel.At says
}

func newChunk(rows, pad int) chunk {
	return chunk{
		docs: make([]uint32, rows), scale: make([]float32, rows), codes: make([]int8, rows*pad),
		vecs: make([]float32, rows*pad), bits: make([]uint64, rows*pad/64),
	}
}

// rows is how many rows of chunk c are in use.
func (b *bank) rows(c int) int { return min(b.n-c*chunkRows, chunkRows) }

// add appends r as the row of doc and returns its number.
func (b *bank) add(doc uint32, r *row) uint32 {
	b.n++
	b.grow()
	b.set(b.n-1, doc, r)
	return uint32(b.n - 1)
}

// set overwrites row n.
func (b *bank) set(n int, doc uint32, r *row) {
	c, i := &b.chunks[n/chunkRows], n%chunkRows
	c.docs[i], c.scale[i] = doc, r.scale
	copy(c.codes[i*b.pad:], r.codes)
	copy(c.vecs[i*b.pad:], r.vec)
	writeBits(c.bits, i, r.bits)
}

// grow makes room for b.n rows.
func (b *bank) grow() {
	switch {
	case len(b.chunks) == 0:
		b.chunks = append(b.chunks, newChunk(firstChunk, b.pad))
	case len(b.chunks) == 1 && b.n <= chunkRows:
		if old := b.chunks[0]; b.n > len(old.docs) {
			b.chunks[0] = newChunk(2*len(old.docs), b.pad)
			b.chunks[0].fill(old)
		}
	case b.n > len(b.chunks)*chunkRows:
		b.chunks = append(b.chunks, newChunk(chunkRows, b.pad))
	}
}

// fill copies a smaller chunk into the front of c. The rows of old come in
// whole interleaved blocks, so the bits can be copied as they are.
func (c *chunk) fill(old chunk) {
	copy(c.docs, old.docs)
	copy(c.scale, old.scale)
	copy(c.codes, old.codes)
	copy(c.vecs, old.vecs)
	copy(c.bits, old.bits)
}

// remove takes row n away. If moved, the document doc, whose row was the last
// one, now has row n.
func (b *bank) remove(n uint32) (doc uint32, moved bool) {
	b.n--
	if last := b.n; int(n) != last {
		doc, moved = b.chunks[last/chunkRows].docs[last%chunkRows], true
		b.copy(int(n), last)
	}
	// One empty chunk stays, so that a delete and an insert in turn at the edge cost nothing.
	keep := (b.n+chunkRows-1)/chunkRows + 1
	if b.n == 0 {
		keep = 0
	}
	if keep < len(b.chunks) {
		clear(b.chunks[keep:])
		b.chunks = b.chunks[:keep]
	}
	return doc, moved
}

// copy makes row to equal to row from.
func (b *bank) copy(to, from int) {
	c, i := &b.chunks[to/chunkRows], to%chunkRows
	d, j := &b.chunks[from/chunkRows], from%chunkRows
	c.docs[i], c.scale[i] = d.docs[j], d.scale[j]
	copy(b.codes(to), b.codes(from))
	copy(b.vec(to), b.vec(from))
	for w, words := 0, b.pad/64; w < words; w++ {
		c.bits[kernel.At(i, w, words)] = d.bits[kernel.At(j, w, words)]
	}
}

func (b *bank) vec(n int) []float32 {
	return b.chunks[n/chunkRows].vecs[n%chunkRows*b.pad:][:b.pad]
}

func (b *bank) codes(n int) []int8 {
	return b.chunks[n/chunkRows].codes[n%chunkRows*b.pad:][:b.pad]
}
