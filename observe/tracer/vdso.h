/* vdso.h: the vDSO, the kernel's page of functions by which a program reads the time without a
 * system call. The page stays where it is, because programs list it (ldd and perhaps others).
 * But in an observed process its functions make system calls. */
#ifndef JO_VDSO_H
#define JO_VDSO_H

#include <stdint.h>

#include "process.h"

/* jo_vdso_asks makes the functions of the page at an address make system calls. It returns 0 if the
 * page is one that it does not know, or cannot write to. */
int jo_vdso_asks(jo_process *p, uint64_t at);

#endif
