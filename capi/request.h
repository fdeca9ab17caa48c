/* request.h: requests to compile, by NVRTC or by a C compiler. */
#ifndef JC_REQUEST_H
#define JC_REQUEST_H

#include <stdatomic.h>

#include "core.h"
#include "handles.h"

typedef struct jc_request {
	jc_bytes source, packed; /* packed: the other parts */
	_Atomic int frozen;
	uint8_t digest[64]; /* of the two, once frozen */
} jc_request;

/* The head of a part: its letter, and the number of its bytes. */
enum { JC_PART_HEAD = 1 + 8 };

/* jc_request_publish makes the handle of a request. If the request is not whole, or
 * there is no memory, it frees the request, notes the error and returns 0. */
jc_handle jc_request_publish(jc_request *r, enum jc_kind kind, int whole);
void jc_request_release(jc_handle request, enum jc_kind kind);

/* jc_request_open enters a request that is not frozen. Otherwise it returns NULL and
 * sets *status. */
jc_request *jc_request_open(jc_handle request, enum jc_kind kind, int32_t *status);

/* jc_request_add adds a part. jc_request_begin makes room for a part and writes its
 * head; the caller appends size bytes. Both return 0 if there is no memory. */
int jc_request_add(jc_request *r, char letter, const void *data, size_t size);
int jc_request_begin(jc_request *r, char letter, size_t size);

/* A call of the core about a request, and the handles that it has entered. */
typedef struct jc_call {
	const jc_core *core;
	jc_handle cache, request; /* cache: 0 without one */
	void *cache_core;
	jc_parts parts;
} jc_call;

/* jc_call_enter freezes the request, and enters it and the cache, which may be NULL.
 * If it returns JITCACHE_OK, jc_call_leave must follow. */
int32_t jc_call_enter(jc_call *c, jitcache_cache *cache, jc_handle request, enum jc_kind kind);
void jc_call_leave(jc_call *c);

/* What a lookup of the core returns: a blob, or a sealed key, malloc'd. */
typedef struct jc_found {
	jc_blob *blob;
	uint8_t *sealed;
	size_t nsealed;
} jc_found;

/* jc_call_give passes to the host what the core has found. It returns status, the
 * core's, or an error of its own. data and size may be NULL. */
int32_t jc_call_give(const jc_call *c, int32_t status, jc_found *found, jitcache_blob **blob, const void **data,
	size_t *size, jitcache_key **key);

#endif
