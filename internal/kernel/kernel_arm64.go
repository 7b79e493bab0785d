package kernel

import "golang.org/x/sys/cpu"

// machine lists the kernels in assembly that this processor runs: one, if it
// has the dot product of bytes (Armv8.2 and later).
func machine() []Kernel {
	if cpu.ARM64.HasASIMDDP {
		return []Kernel{{level: neon}}
	}
	return nil
}

func (k Kernel) dotInt8(q, rows []int8, out []int32) {
	if k.level == neon {
		dotInt8NEON(&q[0], &rows[0], &out[0], len(q), len(out))
		return
	}
	dotInt8Generic(q, rows, out)
}

func (k Kernel) dotInt8At(q, rows []int8, at []uint32, out []int32) {
	if k.level == neon {
		for i, row := range at {
			dotInt8NEON(&q[0], &rows[int(row)*len(q)], &out[i], len(q), 1)
		}
		return
	}
	dotInt8AtGeneric(q, rows, at, out)
}

func (k Kernel) hamming(q, rows []uint64, out []int32) {
	if k.level == neon {
		hammingNEON(&q[0], &rows[0], &out[0], len(q), len(out))
		return
	}
	hammingGeneric(q, rows, out)
}

func (k Kernel) dotFloat32(q, rows []float32, out []float64) {
	if k.level == neon {
		dotFloat32NEON(&q[0], &rows[0], &out[0], len(q), len(out))
		return
	}
	dotFloat32Generic(q, rows, out)
}

// The bounds are checked by the exported methods; dim and n are at least 1.

//go:noescape
func dotInt8NEON(q, rows *int8, out *int32, dim, n int)

//go:noescape
func hammingNEON(q, rows *uint64, out *int32, words, n int)

//go:noescape
func dotFloat32NEON(q, rows *float32, out *float64, dim, n int)
