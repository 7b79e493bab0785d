package local

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
)

// TestEmbedded holds the table in the binary to what its format promises and
// Open, for the sake of the start, does not look at.
func TestEmbedded(t *testing.T) {
	e := mustOpen(t)
	if err := e.checkDigest(); err != nil {
		t.Errorf("digest: %v", err)
	}
	if got, limit := len(embedded), 16<<20; got > limit {
		t.Errorf("table.bin: got %d bytes, want at most %d", got, limit)
	}
	norms := make([]float64, e.rows)
	for i := range norms {
		q := e.codes[i*e.dim : (i+1)*e.dim]
		var square float64
		for _, c := range q {
			square += float64(c) * float64(c)
		}
		norms[i] = float64(e.scale[i]) * math.Sqrt(square)
	}
	sorted := slices.Sorted(slices.Values(norms))
	p90 := sorted[len(sorted)*9/10]
	for i, norm := range norms {
		if got, want := float64(e.weight[i]), norm/p90; math.Abs(got-want) > 1e-3*(1+want) {
			t.Fatalf("weight of %q: got %v, want norm / 90th percentile = %v", e.name(i), got, want)
		}
		if isHan := e.cost[i] != noCost; isHan != (hanPrefix(e.name(i)) == len(e.name(i))) {
			t.Fatalf("row %d, %q: got cost %d, want one below %d for Han words only", i, e.name(i), e.cost[i], noCost)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	change := func(at int, b ...byte) func([]byte) []byte {
		return func(f []byte) []byte { copy(f[at:], b); return f }
	}
	sealed := func(edit func([]byte) []byte) func([]byte) []byte {
		return func(f []byte) []byte { return seal(edit(f)) }
	}
	names := headerSize + 5*2
	for _, tt := range []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"empty", func([]byte) []byte { return nil }, `found "", wanted a file that begins with`},
		{"another magic", change(0, 'X'), `found "XBEMB002"`},
		{"only a header", func(f []byte) []byte { return f[:headerSize] }, "found 64 bytes, wanted 256"},
		{"cut", func(f []byte) []byte { return f[:len(f)-1] }, "found 255 bytes, wanted 256"},
		{"longer", func(f []byte) []byte { return append(f, 0) }, "found 257 bytes, wanted 256"},
		{"no rows", change(8, 0), "found 0 rows"},
		{"too many rows", change(8, 0, 0, 0, 1), "wanted 1 to 1048576"},
		{"no dimension", change(12, 0), "of dimension 0"},
		{"an odd dimension", change(12, 65), "of dimension 65, wanted"},
		{"too many dimensions", change(12, 0x40, 4), "of dimension 1088"},
		{"huge names", change(16, 255, 255, 255, 255), "bytes of names"},
		{"a flipped bit", change(200, 77), "CRC"},
		{"another digest", func(f []byte) []byte {
			f[30] ^= 1
			binary.LittleEndian.PutUint32(f[20:], crc32.ChecksumIEEE(f[crcAt:]))
			return f
		}, "SHA-256"},
		{"too few names", sealed(change(names+2, ' ')), "more or fewer names"},
		{"too many names", sealed(change(names, '\n')), "more or fewer names"},
		{"a name twice", sealed(change(names+3, 'a', 'b')), `the name "ab" twice`},
		{"scale infinite", sealed(change(headerSize, 0, 0x7c)), "scale +Inf"},
		{"scale negative", sealed(change(headerSize+2, 0, 0xbc)), "scale -1"},
		{"weight not a number", sealed(change(headerSize+4, 1, 0x7e)), "weight NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.edit(build(words("ab", "cd")...)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got error %v, want one with %q", err, tt.want)
			}
			if got := memtypes.CodeOf(err); got != memtypes.Invalid {
				t.Errorf("got code %q, want %q", got, memtypes.Invalid)
			}
		})
	}
}

func TestReadKeepsNoReference(t *testing.T) {
	b := build(words("one", "two")...)
	e := mustRead(t, b)
	want, _ := e.Embed(t.Context(), []string{"one two"})
	clear(b)
	got, _ := e.Embed(t.Context(), []string{"one two"})
	if !slices.Equal(got[0], want[0]) {
		t.Errorf("after the caller's bytes changed: got %v, want %v", got[0], want[0])
	}
}

func TestHalf(t *testing.T) {
	for _, tt := range []struct {
		bits uint16
		want float32
	}{
		{0x0000, 0}, {0x3c00, 1}, {0xc000, -2}, {0x3555, 0.33325195}, {0x7bff, 65504},
		{0x0400, 1.0 / (1 << 14)}, {0x0001, 1.0 / (1 << 24)}, {0x03ff, 1023.0 / (1 << 24)},
		{0x7c00, float32(math.Inf(1))}, {0xfc00, float32(math.Inf(-1))},
	} {
		if got := half(tt.bits); got != tt.want {
			t.Errorf("half(%#04x) = %v, want %v", tt.bits, got, tt.want)
		}
	}
	if got := half(0x7e01); got == got {
		t.Errorf("half(0x7e01) = %v, want NaN", got)
	}
}

// FuzzRead gives files with right checksums to the decoder, and uses what it
// accepts: neither may panic.
func FuzzRead(f *testing.F) {
	f.Add(build(words("ab", "##cd", "ef")...))
	f.Add(build(entry{"中", 50, []int8{1}}, entry{"中国", 60, []int8{-128}}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Read(seal(bytes.Clone(b)))
		if err != nil {
			return
		}
		texts := []string{"ab abcd efs 中国 x", strings.ReplaceAll(e.names, "\n", " "), e.names}
		vectors, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatalf("Embed: %v", err)
		}
		for i, v := range vectors {
			if v != nil {
				checkUnit(t, texts[i], v)
			}
		}
		for i := range min(e.rows, 50) {
			e.Weight(e.name(i))
			e.Neighbours([]string{e.name(i)}, 3)
		}
		e.Words(e.names)
	})
}
