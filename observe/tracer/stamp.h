/* stamp.h: the state of a file when the tree looked at it. */
#ifndef JO_STAMP_H
#define JO_STAMP_H

#include "names.h"

/* jo_stamp_take stats a path, following links. */
void jo_stamp_take(const char *path, jo_stamp *stamp);

/* jo_stamp_doubtful reports whether a stamp cannot prove later that the file is unchanged: the
 * file was changed a moment ago, or its file system does not vouch for time stamps. */
int jo_stamp_doubtful(const char *path, const jo_stamp *stamp);

/* jo_stamp_send puts the content of a file into the report. It returns 0 or an errno, EFBIG if
 * the file is too large. */
int jo_stamp_send(const char *path, uint64_t size);

/* jo_stamp_send_names puts the names in a folder into the report. It returns 0 if the folder
 * cannot be read. */
int jo_stamp_send_names(const char *path);

#endif
