/* real.h: paths, and where they lead. */
#ifndef JO_REAL_H
#define JO_REAL_H

#include <stdint.h>

/* The kernel accepts no longer path, the NUL included. If the absolute path of a name is longer,
 * nobody can look for the name again. */
enum { JO_PATH = 4096 };

/* A path as the tree named it, made absolute. */
typedef struct jo_path {
	char text[JO_PATH];
	uint32_t form; /* JO_RELATIVE or JO_ABSOLUTE of names.h */
	int rooted;    /* the tree named it by an absolute path: it leads the tracer to the same place */
} jo_path;

/* jo_real_end follows a path to its end, with flags of open. into, of JO_PATH bytes, gets the path
 * without links. It returns 0 if nothing is there. */
int jo_real_end(const char *path, int flags, char *into);

/* jo_real returns a path with the links of all but its last part resolved, NULL if there is
 * no such folder. It is valid until the next call. jo_real_moved forgets earlier answers,
 * because the tree has renamed or removed something, perhaps a folder. jo_real_unsettled
 * reports whether that ever happened to a folder. */
const char *jo_real(const char *path);
void jo_real_moved(int folder);
int jo_real_unsettled(void);

/* jo_real_type returns the type of what is at a path, 0 for nothing. With follow it follows a
 * link at the end. */
unsigned jo_real_type(const char *path, int follow);

/* jo_real_tells reports whether a path leads, through whichever links, into the folder of
 * /proc of the process that asks. */
int jo_real_tells(const char *path);

/* jo_real_mounts reports whether a file tells what is mounted; rest is as below. */
int jo_real_mounts(const char *rest);

/* jo_real_follows reports whether a file only tells what follows from a process and its start, or
 * how much of the machine the process may use. rest is the file's path below the process's folder
 * in /proc. Other files there, such as those of namespaces and networks, may tell anything. */
int jo_real_follows(const char *rest);

#endif
