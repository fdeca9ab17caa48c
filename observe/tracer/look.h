/* look.h: looking at names. The tracer looks while the process stands still, just before
 * the process itself looks. */
#ifndef JO_LOOK_H
#define JO_LOOK_H

#include <stdint.h>

#include "process.h"
#include "real.h"

/* jo_look_at notes that a path was looked at, opened or run: bits are JO_LOOKED,
 * JO_READ, JO_RUN and JO_STATTED of names.h. It returns the type of the file; minus an
 * errno if there is none and the report says so; else 0. */
int jo_look_at(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_open is jo_look_at for a path that is opened. If it is a folder, names relative to
 * its descriptor are noted below this path. */
int jo_look_open(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_permit notes whether something may be done with a path that was looked at, because
 * the process asks or does it. how is that of names.h. */
void jo_look_permit(const jo_path *path, uint32_t how);

/* jo_look_link notes that a path was looked at without following a link. */
void jo_look_link(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_list notes that the names in a folder were read. real is its path without links. */
void jo_look_list(const jo_process *p, const jo_path *folder, const char *real);

/* jo_look_attributes notes that extended attributes of a path were asked for, all of them or
 * the named one. jo_look_flags notes that the flags of a descriptor were. The absence of
 * attributes is an input too. A path of form 0 is the link in /proc to a descriptor. */
void jo_look_attributes(const jo_process *p, const jo_path *path, int follow, const char *name);
void jo_look_flags(const jo_process *p, int fd);

/* jo_look_own reports whether the tree itself has made what is at a path. */
int jo_look_own(const char *path, int follow);

/* jo_look_way notes the links on the way to a path, because the tree is told where they
 * lead; jo_look_ways does so for a descriptor of q. */
void jo_look_way(const jo_process *p, const char *path);
/* jo_look_where also notes the folders on the way that are no links: programs look for
 * their own files beside themselves. */
void jo_look_where(const jo_process *p, const char *path);
void jo_look_ways(const jo_process *p, const jo_process *q, int fd);

/* jo_look_entered notes that a process has entered a folder. At the end jo_look_settle
 * notes JO_USE_UNSTEADY if such a path leads to another folder by then. */
void jo_look_entered(const jo_process *p);
void jo_look_settle(void);

#endif
