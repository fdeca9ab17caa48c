/* decider.h: programs that decide by the times of files what to do. To them all files of a hermetic tree would be
 * equally old, and they would leave work undone. They end the mode before they run (hermetic.h). */
#ifndef JO_DECIDER_H
#define JO_DECIDER_H

#include <stddef.h>

#include "process.h"

/* jo_decider_names takes the table of them, with a NULL at its end. A row is the name of a program, perhaps with a
 * blank and the beginning of a word, or of the last part of a path, without which it does not decide so; -x stands for
 * any group of short options with x. A version may follow the name (make-4.4). */
void jo_decider_names(char **rows);

/* jo_decider_runs is called before a file is run, a program or a script. */
void jo_decider_runs(const jo_process *p, const char *path);

/* jo_decider_begins is called when a process has begun a program, whose words, each with a NUL at its end, are n bytes.
 * It looks at the options of programs, and at what shells are told to do. */
void jo_decider_begins(jo_process *p, const char *path, const char *words, size_t n);

/* jo_decider_reads is called before a process opens a file to read: shells read what to do. */
void jo_decider_reads(const jo_process *p, const char *path);

#endif
