/* path.h: the paths that calls name. */
#ifndef JO_PATH_H
#define JO_PATH_H

#include "process.h"
#include "real.h"

/* What a call can name. */
enum {
	JO_NOWHERE, /* nothing that has a name, or that can be named again */
	JO_SOMETHING,
	JO_OF_TREE, /* what /proc tells about the tree's own processes: it follows from them */
};

/* jo_path_make turns the path that a process names into an absolute one. folder is a descriptor
 * or AT_FDCWD; follow tells whether the call follows a link at the end. A name below /proc or
 * /dev that stands for a descriptor or for the running program becomes the name of the file. If
 * the file has no name, the text is the path by which the tracer reaches it. */
int jo_path_make(jo_process *p, int folder, const char *given, int follow, jo_path *into);

/* jo_path_opened does the same for a folder that a process has open. into gets the name by
 * which it was opened, and real, of JO_PATH bytes, its path without links. */
int jo_path_opened(jo_process *p, int fd, jo_path *into, char *real);

#endif
