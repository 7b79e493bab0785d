package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// each runs test on every kernel of this machine, and logs which they are.
func each(t *testing.T, test func(*testing.T, Kernel)) {
	for _, k := range All() {
		t.Run(k.String(), func(t *testing.T) { test(t, k) })
	}
}

func random8(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = int8(r.Uint32())
	}
	return out
}

// extremes8 is rows of nothing but the largest products and their opposites.
func extremes8(n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = []int8{-128, 127, -128, -128, 127}[i%5]
	}
	return out
}

// naiveDot is the definition.
func naiveDot(a, b []int8) int32 {
	var s int32
	for i := range a {
		s += int32(a[i]) * int32(b[i])
	}
	return s
}

func TestDotInt8(t *testing.T) {
	each(t, func(t *testing.T, k Kernel) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, dim := range []int{0, 64, 128, 192, 256, 384, 1024, 1088} {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 31} {
				for _, shift := range []int{0, 1, 17} { // rows that are not aligned
					q, rows := random8(r, dim), random8(r, shift+dim*n)[shift:]
					checkInt8(t, k, q, rows, n)
				}
			}
		}
	})
}

func TestDotInt8Extremes(t *testing.T) {
	each(t, func(t *testing.T, k Kernel) {
		low := slices.Repeat([]int8{-128}, MaxDim)
		high := slices.Repeat([]int8{127}, MaxDim)
		checkInt8(t, k, low, slices.Concat(low, high, low, high, low), 5)
		checkInt8(t, k, high, slices.Concat(low, high, low, high, low), 5)
		checkInt8(t, k, extremes8(640), extremes8(640*9), 9)
	})
}

// checkInt8 compares with the definition, and that nothing else is written.
func checkInt8(t testing.TB, k Kernel, q, rows []int8, n int) {
	t.Helper()
	const guard = -77
	out := slices.Repeat([]int32{guard}, n+1)
	k.DotInt8(q, rows, out[:n])
	for i := range n {
		if want := naiveDot(q, rows[i*len(q):]); out[i] != want {
			t.Fatalf("%v: dim %d, row %d of %d: dot = %d, want %d", k, len(q), i, n, out[i], want)
		}
	}
	if out[n] != guard {
		t.Fatalf("%v: dim %d, %d rows: wrote behind out", k, len(q), n)
	}
	checkInt8At(t, k, q, rows, n)
}

// checkInt8At looks at the rows backwards, every other one twice.
func checkInt8At(t testing.TB, k Kernel, q, rows []int8, n int) {
	t.Helper()
	const guard = -77
	var at []uint32
	for i := n - 1; i >= 0; i-- {
		at = append(at, slices.Repeat([]uint32{uint32(i)}, 1+i%2)...)
	}
	out := slices.Repeat([]int32{guard}, len(at)+1)
	k.DotInt8At(q, rows, at, out)
	for i, row := range at {
		if want := naiveDot(q, rows[int(row)*len(q):]); out[i] != want {
			t.Fatalf("%v: dim %d, row %d by its number: dot = %d, want %d", k, len(q), row, out[i], want)
		}
	}
	if out[len(at)] != guard {
		t.Fatalf("%v: dim %d, rows %v: wrote behind out", k, len(q), at)
	}
}

func TestHamming(t *testing.T) {
	each(t, func(t *testing.T, k Kernel) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, words := range []int{0, 1, 2, 3, 4, 6, 12, 33, MaxDim / 64} {
			for _, n := range []int{0, 8, 16, 24, 32, 40, 72} {
				q, plain := random64(r, words), random64(r, words*n)
				if n > 8 { // all bits and none
					for w, x := range q {
						plain[w], plain[words+w] = x, ^x
					}
				}
				checkHamming(t, k, q, plain, n)
			}
		}
	})
}

func random64(r *rand.Rand, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.Uint64()
	}
	return out
}

// checkHamming interleaves plain, which stands row by row, and compares.
func checkHamming(t testing.TB, k Kernel, q, plain []uint64, n int) {
	t.Helper()
	const guard = -77
	words := len(q)
	rows := make([]uint64, words*n)
	for i := range n {
		for w := range words {
			rows[At(i, w, words)] = plain[i*words+w]
		}
	}
	out := slices.Repeat([]int32{guard}, n+1)
	k.Hamming(q, rows, out[:n])
	for i := range n {
		want := 0
		for w, x := range q {
			want += bits.OnesCount64(x ^ plain[i*words+w])
		}
		if int(out[i]) != want {
			t.Fatalf("%v: %d words, row %d of %d: distance = %d, want %d", k, words, i, n, out[i], want)
		}
	}
	if out[n] != guard {
		t.Fatalf("%v: %d words, %d rows: wrote behind out", k, words, n)
	}
}

func TestDotFloat32(t *testing.T) {
	each(t, func(t *testing.T, k Kernel) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, dim := range []int{0, 64, 128, 192, 384, 1088} {
			for _, n := range []int{0, 1, 2, 3, 8} {
				for _, shift := range []int{0, 1, 5} {
					q, rows := randomFloat(r, dim), randomFloat(r, shift+dim*n)[shift:]
					checkFloat32(t, k, q, rows, n)
				}
			}
		}
	})
}

func randomFloat(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15)))
	}
	return out
}

// checkFloat32 wants the bits of the generic loop, and its value to be right.
func checkFloat32(t testing.TB, k Kernel, q, rows []float32, n int) {
	t.Helper()
	const guard = -77
	got, want := slices.Repeat([]float64{guard}, n+1), make([]float64, n)
	k.DotFloat32(q, rows, got[:n])
	Kernel{}.DotFloat32(q, rows, want)
	for i := range n {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%v: dim %d, row %d of %d: dot = %v, want the bits of %v", k, len(q), i, n, got[i], want[i])
		}
		var sum, size float64
		for j, x := range q {
			p := float64(x) * float64(rows[i*len(q)+j])
			sum, size = sum+p, size+math.Abs(p)
		}
		if math.Abs(got[i]-sum) > 1e-12*size {
			t.Fatalf("%v: dim %d, row %d of %d: dot = %v, a plain loop says %v", k, len(q), i, n, got[i], sum)
		}
	}
	if got[n] != guard {
		t.Fatalf("%v: dim %d, %d rows: wrote behind out", k, len(q), n)
	}
}

func TestPanics(t *testing.T) {
	each(t, func(t *testing.T, k Kernel) {
		for name, call := range map[string]func(){
			"int8 length not a multiple":   func() { k.DotInt8(make([]int8, 65), make([]int8, 130), make([]int32, 2)) },
			"int8 rows too short":          func() { k.DotInt8(make([]int8, 64), make([]int8, 127), make([]int32, 2)) },
			"int8 too long":                func() { k.DotInt8(make([]int8, MaxDim+64), make([]int8, MaxDim+64), make([]int32, 1)) },
			"int8 row not there":           func() { k.DotInt8At(make([]int8, 64), make([]int8, 128), []uint32{0, 2}, make([]int32, 2)) },
			"int8 out too short":           func() { k.DotInt8At(make([]int8, 64), make([]int8, 128), []uint32{0, 1}, make([]int32, 1)) },
			"float length not a multiple":  func() { k.DotFloat32(make([]float32, 32), make([]float32, 32), make([]float64, 1)) },
			"float rows too short":         func() { k.DotFloat32(make([]float32, 64), make([]float32, 64), make([]float64, 2)) },
			"bits: rows not in blocks":     func() { k.Hamming(make([]uint64, 1), make([]uint64, 16), make([]int32, 12)) },
			"bits: rows too short":         func() { k.Hamming(make([]uint64, 2), make([]uint64, 15), make([]int32, 8)) },
			"bits: more than MaxDim of it": func() { k.Hamming(make([]uint64, 1025), make([]uint64, 1025*8), make([]int32, 8)) },
		} {
			t.Run(name, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("did not panic")
					}
				}()
				call()
			})
		}
	})
}

func TestAll(t *testing.T) {
	all := All()
	if all[0].String() != "generic" {
		t.Errorf("All()[0] = %v, want generic", all[0])
	}
	if got, want := Best(), all[len(all)-1]; got != want {
		t.Errorf("Best() = %v, want the last of All, %v", got, want)
	}
	t.Log("this machine runs", all)
}

func TestPadAndAt(t *testing.T) {
	for dim, want := range map[int]int{0: 0, 1: 64, 64: 64, 65: 128, 384: 384} {
		if got := Pad(dim); got != want {
			t.Errorf("Pad(%d) = %d, want %d", dim, got, want)
		}
	}
	seen := map[int]string{} // At is one to one onto the words of the rows
	for row := range 24 {
		for word := range 5 {
			at := At(row, word, 5)
			if who, taken := seen[at]; taken || at < 0 || at >= 24*5 {
				t.Errorf("At(%d, %d, 5) = %d, out of range or also that of %s", row, word, at, who)
			}
			seen[at] = fmt.Sprint(row, word)
		}
	}
}

// FuzzKernels gives every kernel the same bytes as int8, as words of bits and
// as float32, and wants the results of the definitions.
func FuzzKernels(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(1), uint8(1))
	f.Add([]byte{0x80}, uint8(6), uint8(5))
	f.Add([]byte{0x7f, 0x80}, uint8(2), uint8(16))
	f.Fuzz(func(t *testing.T, b []byte, lanes, n uint8) {
		if len(b) == 0 {
			return
		}
		dim, rows := int(lanes%16)*Lane, int(n%19)
		data := slices.Repeat(b, (dim*(rows+1)*4)/len(b)+1)
		ints := make([]int8, dim*(rows+1))
		floats := make([]float32, len(ints))
		for i := range ints {
			ints[i] = int8(data[i])
			x := binary.LittleEndian.Uint32(data[4*i:])
			floats[i] = math.Float32frombits(x &^ (1 << 30)) // finite, at most 2
		}
		words := make([]uint64, dim/64*(rows+1))
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		for _, k := range All() {
			checkInt8(t, k, ints[:dim], ints[dim:], rows)
			checkFloat32(t, k, floats[:dim], floats[dim:], rows)
			checkHamming(t, k, words[:dim/64], words[dim/64:], rows/Block*Block)
		}
	})
}
