#include "textflag.h"

// func hammingAVX512(q, rows *uint64, out *int32, words, n int)
//
// One block of eight rows at a time, a word of q against that word of all of
// them. SI q, DI rows, DX out, CX words, BX blocks left, AX word.
TEXT ·hammingAVX512(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ out+16(FP), DX
	MOVQ words+24(FP), CX
	MOVQ n+32(FP), BX
	SHRQ $3, BX

block:
	VPXORQ Z0, Z0, Z0
	XORQ AX, AX

word:
	VPBROADCASTQ (SI)(AX*8), Z1
	VPXORQ (DI), Z1, Z1
	VPOPCNTQ Z1, Z1
	VPADDQ Z1, Z0, Z0
	ADDQ $64, DI
	INCQ AX
	CMPQ AX, CX
	JLT  word

	VPMOVQD Z0, (DX)
	ADDQ $32, DX
	DECQ BX
	JNE  block

	VZEROUPPER
	RET

// The number of bits in each value of four bits.
DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
DATA nibbles<>+16(SB)/8, $0x0302020102010100
DATA nibbles<>+24(SB)/8, $0x0403030203020201
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

// func hammingAVX2(q, rows *uint64, out *int32, words, n int)
//
// One block of eight rows at a time, four rows a register: bits are counted by
// looking up the halves of each byte, and summed over the eight bytes of a word.
// Y10 low halves, Y11 table, Y12 zero.
TEXT ·hammingAVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ out+16(FP), DX
	MOVQ words+24(FP), CX
	MOVQ n+32(FP), BX
	SHRQ $3, BX
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X10
	VPBROADCASTD X10, Y10
	VMOVDQU nibbles<>(SB), Y11
	VPXOR Y12, Y12, Y12

block:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ AX, AX

word:
	VPBROADCASTQ (SI)(AX*8), Y8
	VPXOR (DI), Y8, Y2
	VPXOR 32(DI), Y8, Y3
	VPAND Y10, Y2, Y4
	VPAND Y10, Y3, Y5
	VPSRLW $4, Y2, Y2
	VPSRLW $4, Y3, Y3
	VPAND Y10, Y2, Y2
	VPAND Y10, Y3, Y3
	VPSHUFB Y4, Y11, Y4
	VPSHUFB Y5, Y11, Y5
	VPSHUFB Y2, Y11, Y2
	VPSHUFB Y3, Y11, Y3
	VPADDB Y2, Y4, Y4
	VPADDB Y3, Y5, Y5
	VPSADBW Y12, Y4, Y4
	VPSADBW Y12, Y5, Y5
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	ADDQ $64, DI
	INCQ AX
	CMPQ AX, CX
	JLT  word

	VSHUFPS $0x88, Y1, Y0, Y0 // the low half of each sum: rows 0 1 4 5, 2 3 6 7
	VPERMQ $0xd8, Y0, Y0      // rows 0 to 7
	VMOVDQU Y0, (DX)
	ADDQ $32, DX
	DECQ BX
	JNE  block

	VZEROUPPER
	RET
