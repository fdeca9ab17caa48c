/* blob.h: the bytes of one entry, in C memory.
 *
 * A blob is allocated and filled by one owner. From then on it is immutable, and its
 * references are counted. Releasing the last one frees it with free(3) and never
 * calls Go, so a blob survives fork, panics and the runtime that has read it.
 *
 * Private to the library: hosts see blobs through the handles of jitcache.h.
 */
#ifndef JC_BLOB_H
#define JC_BLOB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment of a payload: a cache line, more than any loader asks for. */
#define JC_BLOB_ALIGN 64

typedef struct jc_blob {
	_Atomic int32_t refs;
	unsigned char *data; /* JC_BLOB_ALIGN-aligned; capacity bytes, then a NUL */
	size_t capacity;
	size_t size;            /* of the payload, which starts at data */
	const char *attributes; /* JSON text, NUL-terminated; "" if there are none */
	const char *name;       /* NUL-terminated; "" if there is none */
	char kind[17];          /* NUL-terminated */
	uint8_t id[32];         /* the key it was stored under */
	int64_t created;        /* nanoseconds since 1970 */
	int64_t cost;           /* nanoseconds that the compile took; 0 unknown */
	uint64_t dev, ino;      /* the file that holds these bytes; ino 0: none */
} jc_blob;

/* jc_blob_new returns a blob with one reference and room for capacity bytes,
 * or NULL if there is no memory. */
jc_blob *jc_blob_new(size_t capacity);

/* jc_blob_retain adds a reference, jc_blob_retain_many n of them. */
void jc_blob_retain(jc_blob *b);
void jc_blob_retain_many(jc_blob *b, int32_t n);

/* jc_blob_release drops a reference, jc_blob_release_many n of them; the blob is
 * freed with the last one. */
void jc_blob_release(jc_blob *b);
void jc_blob_release_many(jc_blob *b, int32_t n);

/* jc_blob_live counts the blobs of this process, for leak tests. */
int64_t jc_blob_live(void);

#endif
