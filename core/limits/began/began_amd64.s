#include "textflag.h"

// func prlimit(resource uintptr, old *Limit) (errno uintptr)
TEXT ·prlimit(SB), NOSPLIT, $0-24
	MOVQ $302, AX
	XORL DI, DI
	MOVQ resource+0(FP), SI
	XORL DX, DX
	MOVQ old+8(FP), R10
	SYSCALL
	MOVQ AX, errno+16(FP)
	RET
