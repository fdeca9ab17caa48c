/* import.h: recognising how Python comes to its sources. */
#ifndef JO_IMPORT_H
#define JO_IMPORT_H

#include <stdint.h>

#include "process.h"

/* jo_import_asks is called when a process looks at a path or opens it; bits are those of names.h. It
 * reports whether the process has asked about the file by itself. Python calls stat twice on each
 * source, to find it and to compare its time with that of the compiled file, before it opens one of
 * the two. Between the two calls it opens a source that it was started with, and later once more. So
 * a third question has been asked by the program in Python, and so has a question about a compiled
 * file, which Python opens at once. For all other files the answer is yes. */
int jo_import_asks(const jo_process *p, const char *path, uint32_t bits);

/* jo_import_source reports whether a path is that of a source of Python. */
int jo_import_source(const char *path);

#endif
