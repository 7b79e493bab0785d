package kernel

import "golang.org/x/sys/cpu"

// machine lists the kernels in assembly that this processor and its operating
// system run, the fastest last.
func machine() []Kernel {
	var out []Kernel
	if x := &cpu.X86; x.HasAVX2 && x.HasFMA {
		out = append(out, Kernel{level: avx2})
		if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI {
			out = append(out, Kernel{level: avx512})
			if x.HasAVX512VPOPCNTDQ {
				out = append(out, Kernel{level: avx512, popcnt: true})
			}
		}
	}
	return out
}

func (k Kernel) dotInt8(q, rows []int8, out []int32) {
	switch k.level {
	case avx512:
		dotInt8AVX512(&q[0], &rows[0], &out[0], len(q), len(out), biasAVX512(&q[0], len(q)))
	case avx2:
		dotInt8AVX2(&q[0], &rows[0], &out[0], len(q), len(out))
	default:
		dotInt8Generic(q, rows, out)
	}
}

func (k Kernel) dotInt8At(q, rows []int8, at []uint32, out []int32) {
	switch k.level {
	case avx512:
		dotInt8AtAVX512(&q[0], &rows[0], &at[0], &out[0], len(q), len(at), biasAVX512(&q[0], len(q)))
	case avx2:
		for i, row := range at {
			dotInt8AVX2(&q[0], &rows[int(row)*len(q)], &out[i], len(q), 1)
		}
	default:
		dotInt8AtGeneric(q, rows, at, out)
	}
}

func (k Kernel) hamming(q, rows []uint64, out []int32) {
	switch {
	case k.popcnt:
		hammingAVX512(&q[0], &rows[0], &out[0], len(q), len(out))
	case k.level != generic:
		hammingAVX2(&q[0], &rows[0], &out[0], len(q), len(out))
	default:
		hammingGeneric(q, rows, out)
	}
}

func (k Kernel) dotFloat32(q, rows []float32, out []float64) {
	if k.level == generic {
		dotFloat32Generic(q, rows, out)
		return
	}
	dotFloat32AVX2(&q[0], &rows[0], &out[0], len(q), len(out))
}

// The bounds are checked by the exported methods; dim and n are at least 1.

// dotInt8AVX512 multiplies unsigned by signed bytes, as VPDPBUSD does: a row's
// byte c goes in as c+128, and bias = 128 * sum(q) is taken off at the end.
// VPDPBUSD adds four products of at most 255*128 to int32 without saturating,
// and 65,536 of them stay below 2^31.
//
//go:noescape
func dotInt8AVX512(q, rows *int8, out *int32, dim, n int, bias int32)

//go:noescape
func dotInt8AtAVX512(q, rows *int8, at *uint32, out *int32, dim, n int, bias int32)

// biasAVX512 is 128 * sum(q).
//
//go:noescape
func biasAVX512(q *int8, dim int) int32

// dotInt8AVX2 widens to 16 bits, where a sum of two products cannot overflow.
//
//go:noescape
func dotInt8AVX2(q, rows *int8, out *int32, dim, n int)

//go:noescape
func hammingAVX512(q, rows *uint64, out *int32, words, n int)

//go:noescape
func hammingAVX2(q, rows *uint64, out *int32, words, n int)

//go:noescape
func dotFloat32AVX2(q, rows *float32, out *float64, dim, n int)
