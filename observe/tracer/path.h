/* path.h: from what a call names to a path. */
#ifndef JO_PATH_H
#define JO_PATH_H

#include "process.h"
#include "real.h"

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

/* jo_path_opened does the same for a folder that a process has open: into is how it was
 * named, and real, which has room for JO_PATH bytes, is where it is. */
int jo_path_opened(jo_process *p, int fd, jo_path *into, char *real);

#endif
