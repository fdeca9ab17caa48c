/* controls.c: which control is active, in the build that has them all. */
#include "controls.h"

#ifdef JC_ANY_CONTROL
const volatile unsigned char jc_control_slot[sizeof JC_SLOT] = JC_SLOT;
#endif
