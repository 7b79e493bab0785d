package dense

import (
	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

// row is one vector as the index keeps it, padded with zeros:
//
//	vec[i]   = v[i] / |v|
//	codes[i] = round(vec[i] / scale), in [-127,127], with scale = max|vec| / 127
//	bits     = the signs of vec: 1 where vec[i] > 0
type row struct {
	vec   []float32
	codes []int8
	bits  []uint64
	scale float32
}

func newRow(pad int) row {
	return row{vec: make([]float32, pad), codes: make([]int8, pad), bits: make([]uint64, pad/64)}
}

// set makes r the row of v, which is finite and not zero.
func (r *row) set(v memtypes.Vector) {
	inverse := 1 / norm(v)
	for i, x := range v {
		r.vec[i] = float32(float64(x) * inverse)
	}
	r.encode()
}

// encode fills everything else from r.vec. A vector that was read back from a
// snapshot comes here directly, so that it keeps its bits.
func (r *row) encode() {
	var top float32
	for _, x := range r.vec {
		top = max(top, x, -x)
	}
	r.scale = top / 127
	inverse := 127 / top
	for w := range r.bits {
		var word uint64
		vec, codes := r.vec[w*64:][:64], r.codes[w*64:][:64]
		for i, x := range vec {
			codes[i] = round(float32(x * inverse))
			if x > 0 {
				word |= 1 << i
			}
		}
		r.bits[w] = word
	}
}

// round takes the nearest whole number of x, in [-127,127]. Adding and taking
// away 1.5 * 2^23 leaves no room for a fraction in a float32. The conversions,
// here and at the caller, keep a compiler from fusing steps on some machines.
func round(x float32) int8 {
	const shift = 3 << 22
	return int8(float32(x+shift) - shift)
}

// writeBits puts the one-bit code of row number at into its place among the rows of a chunk.
func writeBits(chunk []uint64, at int, bits []uint64) {
	for w, x := range bits {
		chunk[kernel.At(at, w, len(bits))] = x
	}
}
