package kernel

import "math/bits"

func dotInt8Generic(q, rows []int8, out []int32) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		var a, b, c, d int32
		for j := 0; j+8 <= len(q); j += 8 {
			x, y := (*[8]int8)(q[j:]), (*[8]int8)(row[j:])
			a += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
			b += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
			c += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
			d += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
		}
		out[i] = a + b + c + d
	}
}

func dotInt8AtGeneric(q, rows []int8, at []uint32, out []int32) {
	for i, row := range at {
		dotInt8Generic(q, rows[int(row)*len(q):], out[i:i+1])
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
