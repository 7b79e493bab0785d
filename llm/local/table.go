package local

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"

	"github.com/vimbank/vimbank/internal/kernel"
)

// The file, little-endian:
//
//	 0  magic "VBEMB002"
//	 8  uint32 rows
//	12  uint32 dim, a multiple of 64
//	16  uint32 size of the strings
//	20  uint32 CRC-32 (IEEE) of everything from byte 24
//	24  SHA-256 of everything from byte 64
//	56  8 bytes, zero
//	64  float16 scale  [rows]   row = scale x int8 codes
//	    float16 weight [rows]   norm of the row / 90th percentile of the norms
//	    uint8   cost   [rows]   -10 x natural log of the probability of a Han word
//	    strings, joined by '\n'; a piece from inside a word begins with "##"
//	    zeros up to a multiple of 64
//	    int8    codes  [rows][dim]
const (
	magic      = "VBEMB002"
	headerSize = 64
	crcAt      = 24 // the CRC covers the file from here
)

// Limits of what decode accepts: far above any table worth having, and low
// enough that no product of them overflows.
const (
	maxRows  = 1 << 20
	maxDim   = 1 << 10
	maxNames = 1 << 28
)

// noCost marks a row that is no Han word.
const noCost = 255

// table is a view of the file: its big parts stay where they are.
type table struct {
	rows, dim int
	digest    [sha256.Size]byte
	content   []byte // everything after the header: what digest is of
	cost      []byte // uint8 [rows]
	names     string
	codes     []int8    // [rows][dim]
	start     []uint32  // row i is names[start[i]:start[i+1]-1]
	scale     []float32 // [rows]
	weight    []float32 // [rows]
	slots     []uint32  // open addressing over names: row + 1, 0 for none
	longest   int       // bytes of the longest name
}

// decode checks the file b and makes the view of it.
func decode(b []byte) (table, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return table{}, fmt.Errorf("found %q, wanted a file that begins with %q", b[:min(len(b), len(magic))], magic)
	}
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	t := table{rows: u32(8), dim: u32(12), content: b[headerSize:]}
	namesSize := u32(16)
	if t.rows < 1 || t.rows > maxRows || t.dim < 1 || t.dim > maxDim || t.dim%kernel.Lane != 0 {
		return table{}, fmt.Errorf("found %d rows of dimension %d, wanted 1 to %d of a multiple of %d up to %d", t.rows, t.dim, maxRows, kernel.Lane, maxDim)
	}
	if namesSize < 0 || namesSize > maxNames {
		return table{}, fmt.Errorf("found %d bytes of names, wanted at most %d", namesSize, maxNames)
	}
	namesAt := headerSize + 5*t.rows
	codesAt := (namesAt + namesSize + 63) &^ 63
	if want := codesAt + t.rows*t.dim; len(b) != want {
		return table{}, fmt.Errorf("found %d bytes, wanted %d for %d rows of dimension %d", len(b), want, t.rows, t.dim)
	}
	if got, want := crc32.ChecksumIEEE(b[crcAt:]), uint32(u32(20)); got != want {
		return table{}, fmt.Errorf("found CRC-32 %08x, wanted %08x", got, want)
	}
	copy(t.digest[:], b[24:56])
	t.scale = halves(b[headerSize:], t.rows)
	t.weight = halves(b[headerSize+2*t.rows:], t.rows)
	t.cost = b[headerSize+4*t.rows : namesAt]
	t.names = string(b[namesAt : namesAt+namesSize])
	t.codes = signed(b[codesAt:])
	return t, t.index()
}

// checkDigest compares the content with the digest in the header.
func (t *table) checkDigest() error {
	if got := sha256.Sum256(t.content); got != t.digest {
		return fmt.Errorf("found SHA-256 %x, wanted %x", got, t.digest)
	}
	return nil
}

// signed sees bytes as the signed numbers they are, in place: a copy of the
// matrix would double the memory and the time to start.
func signed(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func finite(x float32) bool { return x >= 0 && x <= math.MaxFloat32 }

// halves reads n numbers of IEEE 754 binary16.
func halves(b []byte, n int) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = half(uint16(b[2*i]) | uint16(b[2*i+1])<<8)
	}
	return f
}

func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // zero and subnormal numbers: frac x 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
