/* walk.h: recognising realpath, which resolves links folder by folder. */
#ifndef JO_WALK_H
#define JO_WALK_H

#include "process.h"

/* jo_walk_step notes that a process has called lstat on a path. A process that resolves links
 * does so for every folder on the way, beginning just below the root, and only wants to know
 * whether the folder is a link. It gets the permissions too, but does not count as having asked
 * for them. A process that stops at a folder has asked, and so has one that began elsewhere or
 * at the root itself. */
void jo_walk_step(jo_process *p, const char *path);

/* jo_walk_text continues a walk: the process reads the text of a link in the folder that the walk
 * has reached. */
void jo_walk_text(jo_process *p, const char *path);

/* jo_walk_end is called for every other call of a process, and at its end. */
void jo_walk_end(jo_process *p);

#endif
