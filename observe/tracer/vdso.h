/* vdso.h: the kernel's page of functions, by which a program learns the time without
 * asking the kernel. It stays where it is, for programs list it (ldd) and others may; but
 * in a process that is observed its functions ask the kernel. */
#ifndef JO_VDSO_H
#define JO_VDSO_H

#include <stdint.h>

#include "process.h"

/* jo_vdso_asks makes the functions of the page at an address ask the kernel. 0: it is a page that
 * this tracer does not know, or cannot write to. */
int jo_vdso_asks(jo_process *p, uint64_t at);

#endif
