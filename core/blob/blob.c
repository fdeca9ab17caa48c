/* blob.c: allocation, references and release of blobs. */
#include "blob.h"

#include <stdlib.h>
#include <string.h>

static _Atomic int64_t live;

jc_blob *jc_blob_new(size_t capacity)
{
	/* One allocation: the struct, then room to align, the bytes and a NUL. */
	size_t extra = sizeof(jc_blob) + JC_BLOB_ALIGN + 1;
	if (capacity > SIZE_MAX - extra)
		return NULL;
	jc_blob *b = malloc(capacity + extra);
	if (b == NULL)
		return NULL;
	memset(b, 0, sizeof *b);
	uintptr_t start = (uintptr_t)(b + 1);
	b->data = (unsigned char *)((start + JC_BLOB_ALIGN - 1) & ~(uintptr_t)(JC_BLOB_ALIGN - 1));
	b->data[capacity] = 0;
	b->capacity = capacity;
	b->attributes = "";
	b->name = "";
	atomic_init(&b->refs, 1);
	atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	return b;
}

void jc_blob_retain(jc_blob *b) { jc_blob_retain_many(b, 1); }

void jc_blob_retain_many(jc_blob *b, int32_t n) { atomic_fetch_add_explicit(&b->refs, n, memory_order_relaxed); }

void jc_blob_release(jc_blob *b) { jc_blob_release_many(b, 1); }

void jc_blob_release_many(jc_blob *b, int32_t n)
{
	if (atomic_fetch_sub_explicit(&b->refs, n, memory_order_acq_rel) != n)
		return;
	atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
	free(b);
}

int64_t jc_blob_live(void) { return atomic_load_explicit(&live, memory_order_relaxed); }
