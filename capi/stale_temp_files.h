/* stale_temp_files.h: files that a killed process has left in the temp directory. */
#ifndef JC_STALE_TEMP_FILES_H
#define JC_STALE_TEMP_FILES_H

/* jc_temp_folder returns the directory for temporary files. */
const char *jc_temp_folder(void);

/* jc_leftover_lock locks a temporary file that has a name, so that it is not swept
 * until the descriptor is closed or the process dies. */
void jc_leftover_lock(int fd);

/* jc_leftovers_sweep removes the files of this user whose names begin with prefix, if
 * they are not locked and at least a minute old. */
void jc_leftovers_sweep(const char *folder, const char *prefix);

#endif
