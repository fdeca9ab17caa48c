/* written.h: what the tree made, changed and removed. */
#ifndef JO_WRITTEN_H
#define JO_WRITTEN_H

#include <stdint.h>

enum {
	JO_CREATED = 1 << 0,  /* there was none, or what there was is gone */
	JO_REPLACED = 1 << 1, /* there was one, of which nothing is left: truncated, removed, renamed over */
	JO_CHANGED = 1 << 2,  /* there was one, and it was changed in place */
	JO_REMOVED = 1 << 3,  /* it is gone, as far as the tracer knows */
	JO_FOLDER = 1 << 4,   /* it is a folder */
};

/* In all of these a path has no links but perhaps its last part, and bits are of
 * the above. jo_write sets and clears some for a path. */
void jo_write(const char *real, uint32_t set, uint32_t clear);

/* jo_written returns what the tree made of a file, 0 for nothing. jo_written_in
 * also looks whether it made a folder above. */
uint32_t jo_written(const char *real);
uint32_t jo_written_in(const char *real);

/* jo_written_moved: a folder of the tree's got another name, and what is in it. */
void jo_written_moved(const char *from, const char *to);

/* jo_wrote_any says whether the tree has made anything. jo_may_be_written says of a
 * path, however it leads there, that jo_written_in may find something; it knows
 * without asking the disk that most paths are not it. */
int jo_wrote_any(void);
int jo_may_be_written(const char *path);

/* jo_written_report writes JO_WRITTEN records. */
void jo_written_report(void);

#endif
