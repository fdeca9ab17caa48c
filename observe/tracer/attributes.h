/* attributes.h: extended attributes and flags of files. record/attributes.go computes the
 * same values. */
#ifndef JO_ATTRIBUTES_H
#define JO_ATTRIBUTES_H

#include <stdint.h>

/* jo_attributes returns 0 for a file without extended attributes, else a digest of their
 * names. The label that SELinux puts on every file is left out. */
uint32_t jo_attributes(const char *path, int follow);

/* jo_flags returns the flags of a file or folder that a user may set (chattr). If it cannot
 * open the file, it returns the errno in the upper 8 bits. */
uint32_t jo_flags(const char *path);

/* jo_mounted returns how the file system of a path is mounted, as statfs tells it: read-only, and without
 * set-id programs, devices or programs. */
uint32_t jo_mounted(const char *path);

#endif
