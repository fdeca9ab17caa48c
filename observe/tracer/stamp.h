/* stamp.h: what a file was when the tree came to it. */
#ifndef JO_STAMP_H
#define JO_STAMP_H

#include "names.h"

/* jo_stamp_take asks what is at a path, following links. */
void jo_stamp_take(const char *path, jo_stamp *stamp);

/* jo_stamp_doubtful reports whether a stamp proves too little for its file to be
 * read later: the file was changed a moment ago, or nobody vouches for its time
 * stamps. */
int jo_stamp_doubtful(const char *path, const jo_stamp *stamp);

/* jo_stamp_send puts the content of a file into the report. It returns 0, or why that
 * cannot be: EFBIG if it is too large. */
int jo_stamp_send(const char *path, uint64_t size);

/* jo_stamp_send_names puts the names in a folder into the report. 0: it cannot be
 * read. */
int jo_stamp_send_names(const char *path);

#endif
