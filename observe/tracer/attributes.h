/* attributes.h: what a file has beside its content and what stat says of it. record/permits.go
 * asks the same, in the same way. */
#ifndef JO_ATTRIBUTES_H
#define JO_ATTRIBUTES_H

#include <stdint.h>

/* jo_attributes returns 0 for a file without extended attributes, else a digest of their
 * names. The label that SELinux puts on every file is none of it. */
uint32_t jo_attributes(const char *path, int follow);

/* jo_flags returns the flags of a file or folder that somebody may set. */
uint32_t jo_flags(const char *path);

#endif
