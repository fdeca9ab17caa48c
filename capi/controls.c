/* controls.c: in the build for all controls, which one it is. */
#include "controls.h"

#ifdef JC_ANY_CONTROL
const volatile unsigned char jc_control_slot[sizeof JC_SLOT] = JC_SLOT;
#endif
