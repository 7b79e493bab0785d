package local

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/vimbank/vimbank/internal/kernel"
)

// entry is a row of a table made for a test. Its weight is 1 and its scale 1/64.
type entry struct {
	name  string
	cost  byte // noCost for all but Han words
	codes []int8
}

// build makes the file of a table of dimension 64; the codes that an entry does
// not give are zero.
func build(entries ...entry) []byte {
	var scale, weight, cost, names, codes []byte
	for i, e := range entries {
		scale = binary.LittleEndian.AppendUint16(scale, 0x2400)   // 2^-6
		weight = binary.LittleEndian.AppendUint16(weight, 0x3c00) // 1
		cost = append(cost, e.cost)
		if i > 0 {
			names = append(names, '\n')
		}
		names = append(names, e.name...)
		row := make([]byte, kernel.Lane)
		for j, c := range e.codes {
			row[j] = byte(c)
		}
		codes = append(codes, row...)
	}
	b := append([]byte(magic), make([]byte, headerSize-len(magic))...)
	for i, n := range []int{len(entries), kernel.Lane, len(names)} {
		binary.LittleEndian.PutUint32(b[8+4*i:], uint32(n))
	}
	for _, part := range [][]byte{scale, weight, cost, names} {
		b = append(b, part...)
	}
	b = append(b, make([]byte, -len(b)&63)...)
	return seal(append(b, codes...))
}

// seal puts the right digest and CRC into b.
func seal(b []byte) []byte {
	if len(b) >= headerSize {
		digest := sha256.Sum256(b[headerSize:])
		copy(b[24:], digest[:])
		binary.LittleEndian.PutUint32(b[20:], crc32.ChecksumIEEE(b[crcAt:]))
	}
	return b
}

// words makes entries of Latin words and pieces; their vectors are all different.
func words(names ...string) []entry {
	var entries []entry
	for i, n := range names {
		entries = append(entries, entry{n, noCost, []int8{int8(i + 1), int8(100 - i)}})
	}
	return entries
}

func mustRead(t testing.TB, b []byte) *Embedder {
	t.Helper()
	e, err := Read(b)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return e
}

func mustOpen(t testing.TB) *Embedder {
	t.Helper()
	e, err := Open()
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return e
}

// rowsOf gives the names of text's rows in order, without counts.
func rowsOf(e *Embedder, text string) []string {
	s := newSketch(e.rows, e.dim)
	e.tokens(text, s)
	names := []string{}
	for _, row := range s.rows {
		names = append(names, e.name(int(row)))
	}
	return names
}
