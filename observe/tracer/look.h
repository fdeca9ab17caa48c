/* look.h: from what a call names to what is noted of it. Everything is looked at
 * while the process that asks stands still, just before it looks itself. */
#ifndef JO_LOOK_H
#define JO_LOOK_H

#include <stdint.h>
#include <sys/types.h>

#include "process.h"

/* The longest path that is handled; the kernel takes 4,096 bytes, and a folder
 * may come before. */
enum { JO_PATH = 8200 };

/* jo_look_start says which processes belong to the tree, by asking, and which
 * descriptors the command came with. */
void jo_look_start(const int *inherited, int n);

/* jo_look_used notes a use that no name shows (report.h), with a detail that may
 * be NULL. */
void jo_look_used(const jo_process *p, int use, const char *detail);

/* jo_look_inherited reports whether a descriptor is one that the command came
 * with, and notes the use. */
int jo_look_inherited(const jo_process *p, int fd);

/* jo_look_absolute makes the path that a process names absolute: folder is a
 * descriptor or AT_FDCWD. 0: it leads nowhere that has a name. What is looked at
 * next is taken to be named in the form that this path had. */
int jo_look_absolute(const jo_process *p, int folder, const char *path, char *into);

/* jo_look_at notes that a path was looked at or opened: bits are JO_LOOKED,
 * JO_READ or JO_RUN of names.h. It returns the type of file; minus an errno where
 * there is none, and the report says so; 0 if it is another matter. */
int jo_look_at(const jo_process *p, const char *path, uint32_t bits);

/* jo_look_link notes that a path was looked at without following a link. bits:
 * JO_STATTED, or 0. */
void jo_look_link(const jo_process *p, const char *path, uint32_t bits);

/* jo_look_form returns JO_RELATIVE or JO_ABSOLUTE: the form of the last path. */
uint32_t jo_look_form(void);

/* jo_look_list notes that the names in an open folder were read. */
void jo_look_list(const jo_process *p, int fd);

/* jo_look_attributes notes that extended attributes were asked for; where there
 * are none that is all that there is to know. follow: of what a link leads to. */
void jo_look_attributes(const jo_process *p, const char *path, int follow);

/* jo_look_real returns a path with the links of all but its last part resolved,
 * NULL where there is no such folder. Valid until the next call.
 * jo_look_moved forgets what was found out before: links or folders changed. */
const char *jo_look_real(const char *path);
void jo_look_moved(void);

/* jo_look_type returns the type of what is at a path, 0 for nothing, a link
 * being one unless follow is set. */
unsigned jo_look_type(const char *path, int follow);

/* jo_look_report writes JO_USE records. */
void jo_look_report(void);

#endif
