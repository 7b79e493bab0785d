package kernel

import "math/bits"

func dotInt8Generic(q, rows []int8, out []int32) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		var a, b int32
		for j := 0; j+1 < len(row) && j+1 < len(q); j += 2 {
			a += int32(q[j]) * int32(row[j])
			b += int32(q[j+1]) * int32(row[j+1])
		}
		out[i] = a + b
	}
}

func hammingGeneric(q, rows []uint64, out []int32) {
	for i := 0; i+Block <= len(out); i += Block {
		block := rows[i*len(q):][:Block*len(q)]
		var n [Block]int
		for w, x := range q {
			for r, y := range (*[Block]uint64)(block[w*Block:]) {
				n[r] += bits.OnesCount64(x ^ y)
			}
		}
		for r, c := range n {
			out[i+r] = int32(c)
		}
	}
}

// lanes is how many partial sums a float dot product has.
const lanes = 32

func dotFloat32Generic(q, rows []float32, out []float64) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		var s [lanes]float64
		for j := 0; j+lanes <= len(q); j += lanes {
			x, y := (*[lanes]float32)(q[j:]), (*[lanes]float32)(row[j:])
			for l := range s {
				s[l] += float64(x[l]) * float64(y[l]) // exact, so that a fused multiply-add changes nothing
			}
		}
		for n := lanes / 2; n > 0; n /= 2 {
			for l := range n {
				s[l] += s[l+n]
			}
		}
		out[i] = s[0]
	}
}
