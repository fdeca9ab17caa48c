/* leftovers.h: what a process that was killed leaves in the temp directory. */
#ifndef JC_LEFTOVERS_H
#define JC_LEFTOVERS_H

/* jc_temp_folder returns where temporary files belong. */
const char *jc_temp_folder(void);

/* jc_leftover_lock locks a temporary file that has a name, so that it is
 * not swept: until the descriptor is closed, or its process dies. */
void jc_leftover_lock(int fd);

/* jc_leftovers_sweep removes files whose names begin with prefix: those of this user
 * that nobody has locked and that are a minute old. */
void jc_leftovers_sweep(const char *folder, const char *prefix);

#endif
