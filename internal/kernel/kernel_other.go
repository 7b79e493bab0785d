//go:build !amd64 && !arm64

package kernel

func machine() []Kernel { return nil }

func (Kernel) dotInt8(q, rows []int8, out []int32) { dotInt8Generic(q, rows, out) }

func (Kernel) dotInt8At(q, rows []int8, at []uint32, out []int32) { dotInt8AtGeneric(q, rows, at, out) }

func (Kernel) hamming(q, rows []uint64, out []int32) { hammingGeneric(q, rows, out) }

func (Kernel) dotFloat32(q, rows []float32, out []float64) { dotFloat32Generic(q, rows, out) }
