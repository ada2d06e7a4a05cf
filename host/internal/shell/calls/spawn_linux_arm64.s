#include "textflag.h"

#define SYS_clone 220

// func spawn(flags, stack uintptr, m *machine, from int) int
TEXT ·spawn(SB),NOSPLIT|NOFRAME,$0-40
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	m+16(FP), R10
	MOVD	from+24(FP), R11
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	$SYS_clone, R8
	SVC
	CBZ	R0, child
	MOVD	R0, ret+32(FP)
	RET

child:
	// On the new stack, at whose end there is room for arguments.
	MOVD	ZR, R29
	MOVD	R10, 8(RSP)
	MOVD	R11, 16(RSP)
	MOVD	$·run(SB), R12	// indirectly, as the stack is another and nothing adds up
	BL	(R12)
	BRK
