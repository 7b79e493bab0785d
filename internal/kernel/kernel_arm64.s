#include "textflag.h"

// Instructions that the assembler does not know; the arguments are the numbers
// of vector registers, the destination last.
#define SDOT(m, n, d) WORD $(0x4e809400 | (m)<<16 | (n)<<5 | (d))  // d.S4 += n.B16 . m.B16
#define UADALP(n, d) WORD $(0x6e206800 | (n)<<5 | (d))             // d.H8 += pairs of n.B16
#define UADDLPH(n, d) WORD $(0x6e602800 | (n)<<5 | (d))            // d.S4 = pairs of n.H8
#define UADDLPS(n, d) WORD $(0x6ea02800 | (n)<<5 | (d))            // d.D2 = pairs of n.S4
#define FCVTL(n, d) WORD $(0x0e617800 | (n)<<5 | (d))              // d.D2 = low half of n.S4
#define FCVTL2(n, d) WORD $(0x4e617800 | (n)<<5 | (d))             // d.D2 = high half of n.S4
#define FADD(m, n, d) WORD $(0x4e60d400 | (m)<<16 | (n)<<5 | (d))  // d.D2 = n.D2 + m.D2
#define FADDP(n, d) WORD $(0x7e70d800 | (n)<<5 | (d))              // d = n.D[0] + n.D[1]

// func dotInt8NEON(q, rows *int8, out *int32, dim, n int)
//
// Four rows at a time, 64 bytes of each, two sums a row. R0 q, R1 to R4 rows,
// R5 out, R6 dim, R7 rows left, R8 place in q, R9 bytes left of a row.
TEXT ·dotInt8NEON(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD out+16(FP), R5
	MOVD dim+24(FP), R6
	MOVD n+32(FP), R7

four:
	CMP  $4, R7
	BLT  one
	ADD  R6, R1, R2
	ADD  R6, R2, R3
	ADD  R6, R3, R4
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD R0, R8
	MOVD R6, R9

fourLoop:
	VLD1.P 64(R8), [V8.B16, V9.B16, V10.B16, V11.B16]
	VLD1.P 64(R1), [V12.B16, V13.B16, V14.B16, V15.B16]
	VLD1.P 64(R2), [V16.B16, V17.B16, V18.B16, V19.B16]
	VLD1.P 64(R3), [V20.B16, V21.B16, V22.B16, V23.B16]
	VLD1.P 64(R4), [V24.B16, V25.B16, V26.B16, V27.B16]
	SDOT(8, 12, 0)
	SDOT(8, 16, 1)
	SDOT(8, 20, 2)
	SDOT(8, 24, 3)
	SDOT(9, 13, 4)
	SDOT(9, 17, 5)
	SDOT(9, 21, 6)
	SDOT(9, 25, 7)
	SDOT(10, 14, 0)
	SDOT(10, 18, 1)
	SDOT(10, 22, 2)
	SDOT(10, 26, 3)
	SDOT(11, 15, 4)
	SDOT(11, 19, 5)
	SDOT(11, 23, 6)
	SDOT(11, 27, 7)
	SUBS $64, R9, R9
	BNE  fourLoop

	VADD  V4.S4, V0.S4, V0.S4
	VADD  V5.S4, V1.S4, V1.S4
	VADD  V6.S4, V2.S4, V2.S4
	VADD  V7.S4, V3.S4, V3.S4
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VST1.P [V0.S4], 16(R5)
	MOVD  R4, R1
	SUB   $4, R7, R7
	B     four

one:
	CBZ  R7, done
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V4.B16, V4.B16, V4.B16
	MOVD R0, R8
	MOVD R6, R9

oneLoop:
	VLD1.P 64(R8), [V8.B16, V9.B16, V10.B16, V11.B16]
	VLD1.P 64(R1), [V12.B16, V13.B16, V14.B16, V15.B16]
	SDOT(8, 12, 0)
	SDOT(9, 13, 4)
	SDOT(10, 14, 0)
	SDOT(11, 15, 4)
	SUBS $64, R9, R9
	BNE  oneLoop

	VADD  V4.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	FMOVS F0, (R5)
	ADD   $4, R5, R5
	SUB   $1, R7, R7
	B     one

done:
	RET

// func hammingNEON(q, rows *uint64, out *int32, words, n int)
//
// One block of eight rows at a time, two rows a register. The counts gather in
// 16-bit lanes, at most 16 a word, and a row has at most 1,024 words.
// R0 q, R1 rows, R2 out, R3 words, R4 blocks left, R5 place in q, R6 words left.
TEXT ·hammingNEON(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD out+16(FP), R2
	MOVD words+24(FP), R3
	MOVD n+32(FP), R4
	LSR  $3, R4, R4

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R0, R5
	MOVD R3, R6

word:
	VLD1R.P 8(R5), [V8.D2]
	VLD1.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]
	VEOR V8.B16, V4.B16, V4.B16
	VEOR V8.B16, V5.B16, V5.B16
	VEOR V8.B16, V6.B16, V6.B16
	VEOR V8.B16, V7.B16, V7.B16
	VCNT V4.B16, V4.B16
	VCNT V5.B16, V5.B16
	VCNT V6.B16, V6.B16
	VCNT V7.B16, V7.B16
	UADALP(4, 0)
	UADALP(5, 1)
	UADALP(6, 2)
	UADALP(7, 3)
	SUBS $1, R6, R6
	BNE  word

	UADDLPH(0, 0)
	UADDLPH(1, 1)
	UADDLPH(2, 2)
	UADDLPH(3, 3)
	UADDLPS(0, 0)
	UADDLPS(1, 1)
	UADDLPS(2, 2)
	UADDLPS(3, 3)
	VUZP1 V1.S4, V0.S4, V0.S4 // the low half of each sum: rows 0 to 3
	VUZP1 V3.S4, V2.S4, V1.S4 // rows 4 to 7
	VST1.P [V0.S4, V1.S4], 32(R2)
	SUBS $1, R4, R4
	BNE  block
	RET

// func dotFloat32NEON(q, rows *float32, out *float64, dim, n int)
//
// Lanes 0-1, 2-3 ... 30-31 are V0 to V15. R0 q, R1 rows, R2 out, R3 dim,
// R4 rows left, R5 place in q, R6 numbers left of a row.
TEXT ·dotFloat32NEON(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD out+16(FP), R2
	MOVD dim+24(FP), R3
	MOVD n+32(FP), R4

row:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	MOVD R0, R5
	MOVD R3, R6

// STEP takes four numbers of q in register m and four of the row in n to the lanes va and vb.
#define STEP(m, n, va, vb) \
	FCVTL(m, 24); \
	FCVTL(n, 25); \
	FCVTL2(m, 26); \
	FCVTL2(n, 27); \
	VFMLA V24.D2, V25.D2, va; \
	VFMLA V26.D2, V27.D2, vb

loop:
	VLD1.P 64(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	STEP(16, 20, V0.D2, V1.D2)
	STEP(17, 21, V2.D2, V3.D2)
	STEP(18, 22, V4.D2, V5.D2)
	STEP(19, 23, V6.D2, V7.D2)
	VLD1.P 64(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	STEP(16, 20, V8.D2, V9.D2)
	STEP(17, 21, V10.D2, V11.D2)
	STEP(18, 22, V12.D2, V13.D2)
	STEP(19, 23, V14.D2, V15.D2)
	SUBS $32, R6, R6
	BNE  loop

	FADD(8, 0, 0)
	FADD(9, 1, 1)
	FADD(10, 2, 2)
	FADD(11, 3, 3)
	FADD(12, 4, 4)
	FADD(13, 5, 5)
	FADD(14, 6, 6)
	FADD(15, 7, 7)
	FADD(4, 0, 0)
	FADD(5, 1, 1)
	FADD(6, 2, 2)
	FADD(7, 3, 3)
	FADD(2, 0, 0)
	FADD(3, 1, 1)
	FADD(1, 0, 0)
	FADDP(0, 0)
	FMOVD F0, (R2)
	ADD  $8, R2, R2
	SUBS $1, R4, R4
	BNE  row
	RET
