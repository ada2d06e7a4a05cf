#include "textflag.h"

// The layout of wide.
#define first 0
#define second 32
#define foldFirst 64
#define foldSecond 96
#define firstAt 128
#define secondAt 136
#define size 144

// func scan(text *byte, places int, pairs *wide, count int) int
TEXT ·scan(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ places+8(FP), CX
	MOVQ pairs+16(FP), DI
	MOVQ count+24(FP), DX
	ADDQ SI, CX           // the end of the places
	MOVQ SI, AX           // the block at hand
	CMPQ DX, $1
	JNE  many

	// One pair stays in registers.
	VMOVDQU first(DI), Y8
	VMOVDQU second(DI), Y9
	VMOVDQU foldFirst(DI), Y10
	VMOVDQU foldSecond(DI), Y11
	MOVQ    firstAt(DI), R11
	MOVQ    secondAt(DI), R12

one:
	VPOR      (AX)(R11*1), Y10, Y1
	VPCMPEQB  Y8, Y1, Y1
	VPOR      (AX)(R12*1), Y11, Y2
	VPCMPEQB  Y9, Y2, Y2
	VPAND     Y1, Y2, Y0
	VPMOVMSKB Y0, BX
	TESTL     BX, BX
	JNE       found
	ADDQ      $32, AX
	CMPQ      AX, CX
	JB        one
	JMP       none

many:
	MOVQ CX, R8
	SUBQ AX, R8
	CMPQ R8, $128
	JB   block

	// Four blocks at once, so that what is compared with is loaded once for them.
	MOVQ  DI, R9
	MOVQ  DX, R10
	VPXOR Y0, Y0, Y0

pairOfFour:
	MOVQ     firstAt(R9), R11
	MOVQ     secondAt(R9), R12
	ADDQ     AX, R11
	ADDQ     AX, R12
	VMOVDQU  first(R9), Y8
	VMOVDQU  second(R9), Y9
	VMOVDQU  foldFirst(R9), Y10
	VMOVDQU  foldSecond(R9), Y11
	VPOR     (R11), Y10, Y1
	VPOR     (R12), Y11, Y2
	VPOR     32(R11), Y10, Y3
	VPOR     32(R12), Y11, Y4
	VPCMPEQB Y8, Y1, Y1
	VPCMPEQB Y9, Y2, Y2
	VPCMPEQB Y8, Y3, Y3
	VPCMPEQB Y9, Y4, Y4
	VPAND    Y1, Y2, Y1
	VPAND    Y3, Y4, Y3
	VPOR     Y1, Y3, Y5
	VPOR     64(R11), Y10, Y1
	VPOR     64(R12), Y11, Y2
	VPOR     96(R11), Y10, Y3
	VPOR     96(R12), Y11, Y4
	VPCMPEQB Y8, Y1, Y1
	VPCMPEQB Y9, Y2, Y2
	VPCMPEQB Y8, Y3, Y3
	VPCMPEQB Y9, Y4, Y4
	VPAND    Y1, Y2, Y1
	VPAND    Y3, Y4, Y3
	VPOR     Y1, Y3, Y1
	VPOR     Y1, Y5, Y5
	VPOR     Y5, Y0, Y0
	ADDQ     $size, R9
	DECQ     R10
	JNE      pairOfFour

	VPTEST Y0, Y0
	JNE    block         // it is in one of the four
	ADDQ   $128, AX
	CMPQ   AX, CX
	JB     many
	JMP    none

block:
	MOVQ  DI, R9
	MOVQ  DX, R10
	VPXOR Y0, Y0, Y0

pair:
	MOVQ     firstAt(R9), R11
	MOVQ     secondAt(R9), R12
	VMOVDQU  (AX)(R11*1), Y1
	VPOR     foldFirst(R9), Y1, Y1
	VPCMPEQB first(R9), Y1, Y1
	VMOVDQU  (AX)(R12*1), Y2
	VPOR     foldSecond(R9), Y2, Y2
	VPCMPEQB second(R9), Y2, Y2
	VPAND    Y1, Y2, Y1
	VPOR     Y1, Y0, Y0
	ADDQ     $size, R9
	DECQ     R10
	JNE      pair

	VPMOVMSKB Y0, BX
	TESTL     BX, BX
	JNE       found
	ADDQ      $32, AX
	CMPQ      AX, CX
	JB        block

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET

found:
	BSFL BX, BX
	ADDQ BX, AX
	SUBQ SI, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET
