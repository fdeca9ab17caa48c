/* real.h: a path, and where it leads. */
#ifndef JO_REAL_H
#define JO_REAL_H

#include <stdint.h>

/* The kernel takes no longer path, its NUL included: one that is only shorter
 * relative to a folder cannot be asked for again. */
enum { JO_PATH = 4096 };

/* A path as the tree named it, but absolute. */
typedef struct jo_path {
	char text[JO_PATH];
	uint32_t form; /* JO_RELATIVE or JO_ABSOLUTE of names.h */
	int rooted;    /* it was absolute: it leads the tracer where it leads the tree */
} jo_path;

/* jo_real_end follows a path to its end, with flags of open, and puts the path of
 * what is there into into, which has room for JO_PATH bytes. 0: there is nothing. */
int jo_real_end(const char *path, int flags, char *into);

/* jo_real returns a path with the links of all but its last part resolved, NULL
 * where there is no such folder. Valid until the next call. jo_real_moved forgets what
 * was found out before: the tree has renamed or removed something, a folder perhaps.
 * jo_real_unsettled says whether a folder ever was. */
const char *jo_real(const char *path);
void jo_real_moved(int folder);
int jo_real_unsettled(void);

/* jo_real_type returns the type of what is at a path, 0 for nothing, a link being
 * one unless follow is set. */
unsigned jo_real_type(const char *path, int follow);

/* jo_real_tells reports whether a path leads to what /proc says of the process that
 * asks, by whatever links. */
int jo_real_tells(const char *path);

/* jo_real_follows reports whether what /proc says of a process below its folder follows
 * from what it is and how it was started, or only says how much of the machine it may use.
 * Of all else, such as its namespaces and networks, nothing is known. */
int jo_real_follows(const char *rest);

#endif
