/* image.h: images, which a compiler makes and a driver loads; for both fakes. */
#ifndef CUDATEST_IMAGE_H
#define CUDATEST_IMAGE_H

#include <stddef.h>

enum { IMAGE_OK, IMAGE_INVALID, IMAGE_FOR_ANOTHER, IMAGE_BAD_PTX };

/* image_check checks a cubin, or PTX that ends in NUL, for a device of a compute
 * capability (10 * major + minor), and finds its length, which a driver does not get. */
int image_check(const void *image, int capability, size_t *size);

/* image_has reports whether a checked image has a function. */
int image_has(const void *image, const char *name);

/* image_cubin makes a cubin with functions (names one after the other, each
 * with its NUL, and one more) and a note, for the caller to free. exact is for
 * sm_90a and the like. */
unsigned char *image_cubin(int capability, int exact, const char *names, const char *note, size_t *size);

#endif
