/* path.h: from what a call names to a path, and from a path to where it leads. */
#ifndef JO_PATH_H
#define JO_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "process.h"

/* The kernel takes no longer path, its NUL included: one that is only shorter
 * relative to a folder cannot be asked for again. */
enum { JO_PATH = 4096 };

/* A path as the tree named it, but absolute. */
typedef struct jo_path {
	char text[JO_PATH];
	uint32_t form; /* JO_RELATIVE or JO_ABSOLUTE of names.h */
	int rooted;    /* it was absolute: it leads the tracer where it leads the tree */
} jo_path;

/* What a call can name. */
enum {
	JO_NOWHERE, /* nothing that has a name, or can be named again */
	JO_SOMETHING,
	JO_OF_TREE, /* what /proc says of the tree's own processes: it follows from what they are */
};

/* jo_path_make makes what a process names absolute: folder is a descriptor or
 * AT_FDCWD, follow says whether a link at the end is followed. Names of descriptors
 * and of the program that runs, below /proc and /dev, become those of the files; of one
 * whose file has no name the text is where the tracer finds it. */
int jo_path_make(jo_process *p, int folder, const char *given, int follow, jo_path *into);

/* jo_path_end follows a path to its end, with flags of open, and puts the path of
 * what is there into into, which has room for JO_PATH bytes. 0: there is nothing. */
int jo_path_end(const char *path, int flags, char *into);

/* jo_path_real returns a path with the links of all but its last part resolved,
 * NULL where there is no such folder. Valid until the next call.
 * jo_path_moved forgets what was found out before: the tree has renamed or removed
 * something, a folder perhaps. jo_path_unsettled says whether one ever was. */
const char *jo_path_real(const char *path);
void jo_path_moved(int folder);
int jo_path_unsettled(void);

/* jo_path_type returns the type of what is at a path, 0 for nothing, a link being
 * one unless follow is set. */
unsigned jo_path_type(const char *path, int follow);

/* jo_path_tells reports whether a path leads to what /proc says of the process that
 * asks, by whatever links. */
int jo_path_tells(const char *path);

#endif
