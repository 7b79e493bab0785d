// Package kernel holds the inner loops of vector search: dot products of int8
// codes, Hamming distances of one-bit codes and dot products of float32 rows,
// over blocks of rows.
//
// Every [Kernel] gives the same bits for the same input, on every machine: the
// integer loops are exact over the whole range of their types, and the float
// loop adds exact products in a fixed order. A ranking therefore does not
// depend on the processor. [Best] picks the fastest loops that the machine
// runs (AVX-512 with VNNI, AVX2, arm64 with SDOT); the generic loops are
// portable Go and the meaning of the others.
//
// Rows stand one after another without gaps. Their length is a multiple of
// [Lane] ([Pad] rounds up; fill with zeros, which change no result). Nothing
// needs to be aligned; rows that begin on a multiple of 64 bytes are fastest.
// What the numbers mean, and which rows to look at, is left to the callers.
package kernel

import (
	"fmt"
	"slices"
)

const (
	// Lane is what the length of a row must be a multiple of.
	Lane = 64
	// MaxDim is the longest row: beyond it an int8 dot could overflow int32.
	MaxDim = 1 << 16
	// Block is how many rows of one-bit codes are interleaved, see [At].
	Block = 8
)

// Pad rounds dim up to a multiple of Lane.
func Pad(dim int) int { return (dim + Lane - 1) &^ (Lane - 1) }

// At is where a word of a row of one-bit codes stands, if a row has words
// words. Block rows are interleaved word by word, so that one wide register
// holds the same word of all of them and no sum across a register is needed.
func At(row, word, words int) int {
	return (row/Block*words+word)*Block + row%Block
}

// Kernel is one set of loops. The zero value is the generic one. It is a plain
// value, safe for concurrent use.
type Kernel struct {
	level  level
	popcnt bool // the processor counts bits in vector registers
}

// level is a family of instructions.
type level uint8

const (
	generic level = iota
	avx2
	avx512
	neon
)

// Best is the fastest kernel of this machine.
func Best() Kernel {
	all := All()
	return all[len(all)-1]
}

// All lists the kernels that this machine can run, the generic one first and
// the fastest last.
func All() []Kernel { return append([]Kernel{{}}, machine()...) }

// String names the kernel: "generic", "avx2", "avx512", "avx512+popcnt" or "neon".
func (k Kernel) String() string {
	s := [...]string{"generic", "avx2", "avx512", "neon"}[k.level]
	if k.popcnt {
		s += "+popcnt"
	}
	return s
}

// DotInt8 sets out[i] to the dot product of q and the i-th row of rows, exactly,
// for any int8 including -128. It panics if len(q) is not a multiple of Lane,
// is over MaxDim, or if rows is shorter than len(out) rows.
func (k Kernel) DotInt8(q, rows []int8, out []int32) {
	if len(q) == 0 || len(out) == 0 {
		clear(out)
		return
	}
	check(len(q), Lane, len(rows), len(out))
	k.dotInt8(q, rows, out)
}

// DotInt8At sets out[i] to the dot product of q and row at[i] of rows, for rows
// that are not neighbours. It panics as DotInt8 does, if a row of at is not in
// rows, or if out is shorter than at.
func (k Kernel) DotInt8At(q, rows []int8, at []uint32, out []int32) {
	out = out[:len(at):len(out)] // panics if out is too short
	if len(q) == 0 || len(at) == 0 {
		clear(out)
		return
	}
	check(len(q), Lane, len(rows), int(slices.Max(at))+1)
	k.dotInt8At(q, rows, at, out)
}

// Hamming sets out[i] to the number of bits in which q and the i-th row differ.
// Rows are interleaved as [At] says, so len(out) must be a multiple of Block;
// it panics if it is not, if rows is shorter than len(out) rows, or if q is
// longer than MaxDim bits.
func (k Kernel) Hamming(q, rows []uint64, out []int32) {
	if len(out)%Block != 0 || len(q) > MaxDim/64 {
		panic(fmt.Sprintf("kernel: %d rows of %d words, wanted a multiple of %d rows of at most %d words", len(out), len(q), Block, MaxDim/64))
	}
	if len(q) == 0 || len(out) == 0 {
		clear(out)
		return
	}
	check(len(q), 1, len(rows), len(out))
	k.hamming(q, rows, out)
}

// DotFloat32 sets out[i] to the dot product of q and the i-th row of rows. The
// products are exact float64 values (24 bits times 24 bits); they are added in
// 32 lanes, lane j taking the elements j, j+32, j+64..., and the lanes are then
// folded in halves: 16, 8, 4, 2, 1. It panics as DotInt8 does.
func (k Kernel) DotFloat32(q, rows []float32, out []float64) {
	if len(q) == 0 || len(out) == 0 {
		clear(out)
		return
	}
	check(len(q), Lane, len(rows), len(out))
	k.dotFloat32(q, rows, out)
}

// check is the bound of what the loops read: assembly has none of its own.
func check(dim, unit, have, rows int) {
	if dim%unit != 0 || dim > MaxDim || rows > have/dim {
		panic(fmt.Sprintf("kernel: %d rows of length %d in %d elements, wanted a length that is a multiple of %d and at most %d",
			rows, dim, have, unit, MaxDim))
	}
}
