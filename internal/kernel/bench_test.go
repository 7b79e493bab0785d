package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// sizes is rows that fit the second cache level, and rows that fit none.
var sizes = []struct {
	name string
	rows int
}{{"cached", 1024}, {"memory", 100_000}}

const benchDim = 384

// BenchmarkDotInt8 reports the bytes of codes read.
func BenchmarkDotInt8(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range sizes {
		q, rows, out := random8(r, benchDim), random8(r, benchDim*s.rows), make([]int32, s.rows)
		for _, k := range All() {
			b.Run(fmt.Sprintf("%s/%v", s.name, k), func(b *testing.B) {
				b.SetBytes(int64(len(rows)))
				for b.Loop() {
					k.DotInt8(q, rows, out)
				}
			})
		}
	}
}

// BenchmarkHamming reports the bytes of one-bit codes read.
func BenchmarkHamming(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range sizes {
		words := benchDim / 64
		q, rows, out := random64(r, words), random64(r, words*s.rows), make([]int32, s.rows)
		for _, k := range All() {
			b.Run(fmt.Sprintf("%s/%v", s.name, k), func(b *testing.B) {
				b.SetBytes(int64(8 * len(rows)))
				for b.Loop() {
					k.Hamming(q, rows, out)
				}
			})
		}
	}
}

// BenchmarkDotFloat32 reports the bytes of vectors read.
func BenchmarkDotFloat32(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range sizes {
		q, rows, out := randomFloat(r, benchDim), randomFloat(r, benchDim*s.rows), make([]float64, s.rows)
		for _, k := range All() {
			b.Run(fmt.Sprintf("%s/%v", s.name, k), func(b *testing.B) {
				b.SetBytes(int64(4 * len(rows)))
				for b.Loop() {
					k.DotFloat32(q, rows, out)
				}
			})
		}
	}
}
