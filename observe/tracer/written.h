/* written.h: what the tree made, changed and removed. */
#ifndef JO_WRITTEN_H
#define JO_WRITTEN_H

#include <stdint.h>

enum {
	JO_CREATED = 1 << 0,  /* nothing was there before the tree made it */
	JO_REPLACED = 1 << 1, /* nothing is left of what was there: truncated, removed, renamed over */
	JO_CHANGED = 1 << 2,  /* it existed, and was changed in place */
	JO_REMOVED = 1 << 3,  /* it is gone, as far as the tracer knows */
	JO_FOLDER = 1 << 4,   /* it is a folder */
	JO_ADDED = 1 << 5,    /* it was opened in a way that would have added to an existing file */
	JO_INPLACE = 1 << 6,  /* it was opened in a way that empties a file that stands there, and keeps it */
	JO_MODED = 1 << 7,    /* its permissions were set after it was made */
};

/* In all of these, real is a path whose folders are no links, and bits are those above. jo_write
 * sets and clears bits of a path. */
void jo_write(const char *real, uint32_t set, uint32_t clear);

/* jo_write_asked notes the permissions that the call asked for which made a file: JO_UNASKED if it
 * could only open one that stands. jo_write_over notes what the tree writes over in place: its
 * permissions and its group. */
enum { JO_UNASKED = 0xffff };
void jo_write_asked(const char *real, uint32_t mode);
void jo_write_over(const char *real, uint32_t mode, uint32_t group);

/* jo_write_name notes the name by which the tree wrote a file: made absolute, and otherwise as
 * the tree wrote it. form is JO_RELATIVE or JO_ABSOLUTE of names.h. */
void jo_write_name(const char *real, const char *name, uint32_t form);

/* jo_written returns the bits of a file, 0 if the tree has not written it. If there are none,
 * jo_written_in returns those of a folder above it that the tree made, 0 if there is none. */
uint32_t jo_written(const char *real);
uint32_t jo_written_in(const char *real);

/* jo_written_moved: a folder that the tree made was renamed, with its contents. name and form
 * are those of jo_write_name, for the folder. */
void jo_written_moved(const char *from, const char *to, const char *name, uint32_t form);

/* jo_wrote_any reports whether the tree has written anything. jo_may_be_written reports whether
 * jo_written_in may find something for a path, through whichever links it leads. It excludes
 * most paths without asking the disk. */
int jo_wrote_any(void);
int jo_may_be_written(const char *path);

/* jo_written_report writes the JO_WRITTEN records: the bits, with the forms of the names, and what the
 * two functions above have noted. */
void jo_written_report(void);

#endif
