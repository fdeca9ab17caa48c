/* absent.h: names that are not there, without asking the disk for each.
 *
 * A compiler with forty -I looks for every header in most of forty folders. After
 * some names were looked for in vain in a folder its names are read at once, and
 * answer for a moment. */
#ifndef JO_ABSENT_H
#define JO_ABSENT_H

/* jo_absent returns the errno with which a look at a path fails, 0 if it has to be
 * tried. */
int jo_absent(const char *path);

/* jo_absent_missed says that a look at a path has failed with an errno. */
void jo_absent_missed(const char *path, int error);

/* jo_absent_forget is called when the tree has made or removed something. */
void jo_absent_forget(void);

#endif
