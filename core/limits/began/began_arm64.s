#include "textflag.h"

// func prlimit(resource uintptr, old *Limit) (errno uintptr)
TEXT ·prlimit(SB), NOSPLIT, $0-24
	MOVD $261, R8
	MOVD ZR, R0
	MOVD resource+0(FP), R1
	MOVD ZR, R2
	MOVD old+8(FP), R3
	SVC
	MOVD R0, errno+16(FP)
	RET
