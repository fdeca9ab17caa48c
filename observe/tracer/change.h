/* change.h: calls that change files. The tracer notes what is there before such a call, and
 * what has changed after it. */
#ifndef JO_CHANGE_H
#define JO_CHANGE_H

#include <stdint.h>

#include "real.h"
#include "process.h"

/* Each of these runs before the call. It returns 1 if the tracer must also stop at the
 * call's end. class is that of the call. */

/* jo_change_open: the process opens a file in a way that may create or change it. mode has the
 * permissions of a file that it creates. */
int jo_change_open(jo_process *p, const jo_path *path, int flags, uint32_t mode);

/* jo_change_name: the process makes or removes a name. */
int jo_change_name(jo_process *p, int class, const jo_path *path);

/* jo_change_two: the process renames a file, or gives it one more name. follow: if from is a
 * link, its target gets the name. from is NULL if the file has no name yet. */
int jo_change_two(jo_process *p, int class, const jo_path *from, const jo_path *to, int follow);

/* jo_change_file: the process changes the mode, owner, times, size or attributes of a file. set is
 * JO_MODED if it changes the mode, else 0. */
int jo_change_file(jo_process *p, const jo_path *path, int follow, uint32_t set);

/* jo_change_descriptor: the same through a descriptor, which may be open for reading only. */
int jo_change_descriptor(jo_process *p, int fd, uint32_t set);

/* jo_change_folder: the process enters a folder by a path; NULL: the tracer has no name for the
 * folder. jo_change_to_descriptor: it enters one by a descriptor. */
int jo_change_folder(jo_process *p, const jo_path *path);
int jo_change_to_descriptor(jo_process *p, int fd);

/* jo_change_result runs at the end of the call. */
void jo_change_result(jo_process *p, int64_t result);

#endif
