#include "textflag.h"

#define SYS_clone 56

// func spawn(flags, stack uintptr, m *machine, from int) int
TEXT ·spawn(SB),NOSPLIT|NOFRAME,$0-40
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	m+16(FP), R12
	MOVQ	from+24(FP), R13
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$SYS_clone, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	MOVQ	AX, ret+32(FP)
	RET

child:
	// On the new stack, at whose end there is room for arguments.
	XORL	BP, BP
	MOVQ	R12, 0(SP)
	MOVQ	R13, 8(SP)
	LEAQ	·run(SB), AX	// indirectly, as the stack is another and nothing adds up
	CALL	AX
	INT	$3
