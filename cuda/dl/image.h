/* image.h: the libraries that the process has loaded. */
#ifndef JC_DL_IMAGE_H
#define JC_DL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define JC_DL_PATH 4096

/* One loaded library, copied: it may be unloaded at any time. */
typedef struct jc_dl_image {
	uintptr_t base;        /* what the loader added to its addresses */
	char path[JC_DL_PATH]; /* as it was opened; may be relative */
} jc_dl_image;

/* jc_dl_generation returns a number that changes whenever a library is loaded
 * or unloaded. */
uint64_t jc_dl_generation(void);

/* jc_dl_images writes up to max of the libraries whose file name begins with
 * prefix, and returns how many there were. */
int jc_dl_images(const char *prefix, jc_dl_image *out, int max);

/* jc_dl_resident reports whether dlopen(path) would return a library that is
 * loaded already, and which: its base and its path. */
int jc_dl_resident(const char *path, uintptr_t *base, char out[JC_DL_PATH]);

/* jc_dl_folders writes the folders where the loader looks for a name without a
 * slash, one per line, and returns the length; 0 if the loader does not say. */
size_t jc_dl_folders(char *out, size_t size);

/* jc_dl_open is dlopen. With resident, it opens only a library that is loaded. It
 * copies the reason of a failure to why, because dlerror belongs to the thread. */
void *jc_dl_open(const char *path, int resident, char *why, size_t size);

void *jc_dl_symbol(void *handle, const char *name);

/* To be called around a fork: prepare waits until no thread asks the loader. They are
 * not registered here, because a copy of the library in a forked child has a lock of
 * its own. The front knows which copy is used (jc_core in capi/core.h). */
void jc_dl_fork_prepare(void);
void jc_dl_fork_parent(void);
void jc_dl_fork_child(void);

#endif
