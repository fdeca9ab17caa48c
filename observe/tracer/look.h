/* look.h: looking at names. The tracer looks while a process is stopped, just before the
 * process itself looks. */
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

/* jo_look_keep puts the content of a file into the report, if the tree has read it: it is about to be
 * written over. */
void jo_look_keep(struct jo_name *name);

/* jo_look_permit notes whether the process may do something with a path that was looked at: the
 * process asks that, or does it. how is the field of jo_permit (names.h). */
void jo_look_permit(const jo_path *path, uint32_t how);

/* jo_look_link notes that a path was looked at without following a link at its end. */
void jo_look_link(const jo_process *p, const jo_path *path, uint32_t bits);

/* jo_look_list notes that the names in a folder were read. real is its path without links. */
void jo_look_list(const jo_process *p, const jo_path *folder, const char *real);

/* jo_look_attributes notes that a process asks for extended attributes of a path: for the named
 * one, or with name NULL for all. That there are none is an input too. A path of form 0 is the
 * link in /proc to a descriptor. jo_look_flags notes that a process asks for the flags of a
 * descriptor's file. */
void jo_look_attributes(const jo_process *p, const jo_path *path, int follow, const char *name);
void jo_look_flags(const jo_process *p, int fd);

/* jo_look_mounted notes that a process asks how the file system of a path, or of a descriptor's file, is
 * mounted. */
void jo_look_mounted(const jo_path *path);
void jo_look_mounted_at(const jo_process *p, int fd);

/* jo_look_own reports whether the tree itself has made or changed what is at a path. */
int jo_look_own(const char *path, int follow);

/* jo_look_way notes the links on the way to a path, and which parts of it are no links, because a call
 * tells the tree where the path leads; jo_look_ways does so for a descriptor of q. form is that of
 * the path. jo_look_begins says which folder the command starts in. Parts that lead to it are left
 * out, because its path without links counts. */
void jo_look_begins(const char *folder);
void jo_look_way(const jo_process *p, const char *path, uint32_t form);
/* jo_look_here notes that a process is told the path of a folder that it, or another process, is in. */
void jo_look_here(const jo_process *p, const jo_group *whose);
/* jo_look_where leaves no part out. It is for the path of a program, because programs look for
 * their own files beside themselves. */
void jo_look_where(const jo_process *p, const char *path);
void jo_look_ways(const jo_process *p, const jo_process *q, int fd);

/* jo_look_entered notes which folder the path of a process's current folder leads to. At the end
 * jo_look_settle notes JO_USE_UNSTEADY for each such path that leads to another folder by then. */
void jo_look_entered(const jo_process *p);
void jo_look_settle(void);

#endif
