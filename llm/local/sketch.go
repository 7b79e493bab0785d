package local

import (
	"math"

	"github.com/vimbank/vimbank/memtypes"
)

// sketch is a text on its way to a vector: its rows and how often each occurs.
// It is scratch, used again and again by one goroutine at a time.
type sketch struct {
	letter []byte // what a character stands for
	run    []byte // the run being read, as letters gives it
	path   path
	rows   []int32  // distinct, in order of first occurrence
	count  []uint32 // by row; zero outside rows
	sum    []float32
}

func newSketch(rows, dim int) *sketch {
	return &sketch{count: make([]uint32, rows), sum: make([]float32, dim)}
}

func (s *sketch) add(row int) {
	if s.count[row] == 0 {
		s.rows = append(s.rows, int32(row))
	}
	s.count[row]++
}

// reset leaves s as newSketch made it.
func (s *sketch) reset() {
	for _, row := range s.rows {
		s.count[row] = 0
	}
	s.rows = s.rows[:0]
	s.run = s.run[:0]
}

// vector sums (1 + ln tf) x row over the distinct rows and scales the sum to
// length 1. It is nil if there are no rows, or they cancel out.
func (t *table) vector(s *sketch) memtypes.Vector {
	clear(s.sum)
	for _, row := range s.rows {
		c := t.scale[row]
		if tf := s.count[row]; tf > 1 {
			c *= float32(1 + math.Log(float64(tf)))
		}
		accumulate(s.sum, t.codes[int(row)*t.dim:], c)
	}
	var square float64
	for _, x := range s.sum {
		square += float64(float64(x) * float64(x))
	}
	if square == 0 {
		return nil
	}
	v := make(memtypes.Vector, t.dim)
	inverse := 1 / math.Sqrt(square)
	for i, x := range s.sum {
		v[i] = float32(float64(x) * inverse)
	}
	return v
}

// accumulate adds c x codes to sum. The conversion around the product forbids a
// fused multiply-add, which would round otherwise on some processors: a vector
// must be the same on all of them.
func accumulate(sum []float32, codes []int8, c float32) {
	codes = codes[:len(sum)]
	for len(sum) >= 8 && len(codes) >= 8 {
		s, q := (*[8]float32)(sum), (*[8]int8)(codes)
		s[0] += float32(c * float32(q[0]))
		s[1] += float32(c * float32(q[1]))
		s[2] += float32(c * float32(q[2]))
		s[3] += float32(c * float32(q[3]))
		s[4] += float32(c * float32(q[4]))
		s[5] += float32(c * float32(q[5]))
		s[6] += float32(c * float32(q[6]))
		s[7] += float32(c * float32(q[7]))
		sum, codes = sum[8:], codes[8:]
	}
	for i := range sum {
		sum[i] += float32(c * float32(codes[i]))
	}
}
