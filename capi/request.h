/* request.h: what to compile, by NVRTC or by a C compiler. */
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

/* Before the bytes of a part: its letter, and their number. */
enum { JC_PART_HEAD = 1 + 8 };

/* jc_request_publish makes the handle of a request, 0 if it is not whole or there
 * is no memory: the request is gone then, and the error noted. */
jc_handle jc_request_publish(jc_request *r, enum jc_kind kind, int whole);
void jc_request_release(jc_handle request, enum jc_kind kind);

/* jc_request_open enters a request that may still be built, or returns NULL and
 * sets status. */
jc_request *jc_request_open(jc_handle request, enum jc_kind kind, int32_t *status);

/* jc_request_add adds a part. jc_request_begin makes room for one and writes its
 * head; size bytes are to be appended. 0: there is no memory. */
int jc_request_add(jc_request *r, char letter, const void *data, size_t size);
int jc_request_begin(jc_request *r, char letter, size_t size);

/* A call of the core about a request, and what was entered for it. */
typedef struct jc_call {
	const jc_core *core;
	jc_handle cache, request; /* cache: 0 without one */
	void *cache_core;
	jc_parts parts;
} jc_call;

/* jc_call_enter freezes the request and enters it and the cache, which may be
 * NULL. If it returns JITCACHE_OK jc_call_leave is to follow. */
int32_t jc_call_enter(jc_call *c, jitcache_cache *cache, jc_handle request, enum jc_kind kind);
void jc_call_leave(jc_call *c);

/* What a lookup of the core can give: a blob, or a sealed key, malloc'd. */
typedef struct jc_found {
	jc_blob *blob;
	uint8_t *sealed;
	size_t nsealed;
} jc_found;

/* jc_call_give gives the host what was found, with the core's status; data and size
 * may be NULL. */
int32_t jc_call_give(const jc_call *c, int32_t status, jc_found *found, jitcache_blob **blob, const void **data,
	size_t *size, jitcache_key **key);

#endif
