/* second_runtime.h: a second copy of this library in the process. */
#ifndef JC_SECOND_RUNTIME_H
#define JC_SECOND_RUNTIME_H

#include "core.h"

/* jc_library_open opens this library's file, so that copies can be made of it. Called
 * once, when the library is loaded. */
void jc_library_open(void);

/* jc_library_is_copy says whether this code is such a copy. */
int jc_library_is_copy(void);

/* jc_library_path returns the path that this library was loaded from, "" if it is
 * unknown. */
const char *jc_library_path(void);

/* jc_library_copy loads a second copy of the library and returns its table. If it
 * fails, it returns NULL and writes the reason to why, size bytes. generation is that
 * of the core in the copy (runtime.h). */
const jc_core *jc_library_copy(uint32_t generation, char *why, size_t size);

#endif
