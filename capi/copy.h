/* copy.h: a second copy of this library in the process. */
#ifndef JC_COPY_H
#define JC_COPY_H

#include "core.h"

/* jc_library_open opens the file of this library, for a copy. Called once, when
 * it is loaded. */
void jc_library_open(void);

/* jc_library_is_copy says whether this is a copy that the library has made. */
int jc_library_is_copy(void);

/* jc_library_path returns the path that this library was loaded from, "" if that
 * is not known. */
const char *jc_library_path(void);

/* jc_library_copy loads a second copy of the library and returns its table, or
 * NULL and why not. generation is that of the core in the copy (runtime.h). */
const jc_core *jc_library_copy(uint32_t generation, char *why, size_t size);

#endif
