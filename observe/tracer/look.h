/* look.h: looking at names. Everything is looked at while the process that asks
 * stands still, just before it looks itself. */
#ifndef JO_LOOK_H
#define JO_LOOK_H

#include <stdint.h>

#include "process.h"
#include "real.h"

/* jo_look_at notes that a path was looked at, opened or run: bits are JO_LOOKED,
 * JO_READ, JO_RUN and JO_STATTED of names.h. It returns the type of file; minus an
 * errno where there is none, and the report says so; 0 if it is another matter. */
int jo_look_at(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_open is jo_look_at for what is opened: what is then done in an open folder
 * is done under this name. */
int jo_look_open(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_permit notes whether something may be done with a path that was looked at: how
 * is that of names.h. The process is told, or does it. */
void jo_look_permit(const jo_path *path, uint32_t how);

/* jo_look_link notes that a path was looked at without following a link. */
void jo_look_link(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_list notes that the names in a folder were read, which really is at real. */
void jo_look_list(const jo_process *p, const jo_path *folder, const char *real);

/* jo_look_attributes notes that extended attributes of a path were asked for, all or
 * the one that is named, and jo_look_flags flags of a descriptor. That there are none is an
 * input. A path of form 0 is the link in /proc to a descriptor. */
void jo_look_attributes(const jo_process *p, const jo_path *path, int follow, const char *name);
void jo_look_flags(const jo_process *p, int fd);

/* jo_look_own reports whether what is at a path is there because the tree has made it. */
int jo_look_own(const char *path, int follow);

/* jo_look_way notes the links that lead to a path, because the tree is told where
 * they lead; jo_look_ways those to a descriptor of q. */
void jo_look_way(const jo_process *p, const char *path);
/* jo_look_where notes what on the way is no link, too: programs look for their own files
 * beside where they are. */
void jo_look_where(const jo_process *p, const char *path);
void jo_look_ways(const jo_process *p, const jo_process *q, int fd);

/* jo_look_entered notes that a process has entered a folder. At the end jo_look_settle
 * notes the use if one of them is another folder by then. */
void jo_look_entered(const jo_process *p);
void jo_look_settle(void);

#endif
