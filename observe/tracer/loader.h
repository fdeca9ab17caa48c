/* loader.h: what the C library's loader reads for a program, and not the program itself. */
#ifndef JO_LOADER_H
#define JO_LOADER_H

#include "process.h"

/* jo_loader_reads reports whether a process that opens a path is in the code of its loader, and the
 * path is that of the loader's cache. Any program may read the cache for itself, as any other file. */
int jo_loader_reads(const jo_process *p, const char *path);

#endif
