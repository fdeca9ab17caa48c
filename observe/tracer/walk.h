/* walk.h: looking for the path without links, as realpath does: a step for each folder. */
#ifndef JO_WALK_H
#define JO_WALK_H

#include "process.h"

/* jo_walk_step notes that a process has asked of a path, without following a link, what it
 * is. Whoever looks for the path without links asks so of every folder on the way, from
 * the root on, and wants to know no more than whether it is a link: he is told the
 * permissions too, and does not count as one who has asked for them. Who stops there has
 * asked, and so has who began elsewhere, or with the root itself. */
void jo_walk_step(jo_process *p, const char *path);

/* jo_walk_text goes on with a walk: the text of a link in the folder that it has come to
 * is read. */
void jo_walk_text(jo_process *p, const char *path);

/* jo_walk_end is called for everything else that a process asks or does, and at its end. */
void jo_walk_end(jo_process *p);

#endif
