/* native_run.h: asking a C compiler. */
#ifndef JC_NATIVE_RUN_H
#define JC_NATIVE_RUN_H

#include "core.h"

/* jc_native_ask runs a command, words each ended by a NUL, in a private folder
 * with the sources that parts have in memory. The bytes of the answer are
 * malloc'd; its status is -1 if the command could not be run. */
int32_t jc_native_ask(const jc_parts *parts, const char *words, size_t size, jc_answer *answer);

#endif
