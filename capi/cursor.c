/* cursor.c: the entries of a directory, one after the other.
 *
 * A cursor's whole state is here, so that it works in a forked child: the keys of
 * one part of the directory, and which of them comes next. */
#include <stdlib.h>
#include <string.h>

#include "blob_handle.h"
#include "cache.h"
#include "controls.h"
#include "core.h"
#include "handles.h"
#include "log.h"
#include "runtime.h"
#include "thread.h"

enum { KEY_SIZE = 32 };

/* A call looks at this many entries at most, so that the host can handle signals
 * (Python does between calls). 64 take half a millisecond, or half a second if each
 * waits for a disk. */
enum { MOST = 64 };

typedef struct cursor {
	jc_handle cache; /* not entered: the host may close it meanwhile */
	char *kind;      /* NULL: any */
	jc_blob *keys;   /* of the current part, NULL before the first */
	size_t next;     /* offset of the next key in keys */
	int32_t part;    /* the number of the next part */
} cursor;

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	cursor *c = object;
	if (c->keys != NULL)
		jc_blob_release(c->keys);
	free(c->kind);
	free(c);
}

int32_t jitcache_cursor_new(jitcache_cache *cache, const char *kind, jitcache_cursor **handle)
{
	jc_thread_unwind();
	if (handle == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "cursor: NULL");
	*handle = NULL;
	if (jc_handle_enter(JC_HANDLE(cache), JC_CACHE) == NULL)
		return jc_bad_handle(cache, "cache");
	jc_handle_leave(JC_HANDLE(cache));
	cursor *c = calloc(1, sizeof *c);
	if (c == NULL)
		return jc_fail(JITCACHE_ERR_MEMORY, "cursor: no memory");
	c->cache = JC_HANDLE(cache);
	jc_handle h = 0;
	if (kind == NULL || (c->kind = strdup(kind)) != NULL)
		h = jc_handle_new(JC_CURSOR, c, (jc_extra){0}, destroy);
	if (h == 0) {
		destroy(c, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "cursor: no memory");
	}
	*handle = JC_POINTER(jitcache_cursor, h);
	return JITCACHE_OK;
}

/* next_part reads the keys of the next part of the directory. */
static int32_t next_part(cursor *c, const jc_core *core, void *cache)
{
	jc_out out = {0};
	jc_blob *keys = NULL;
	int32_t status = jc_finish(core->keys(cache, c->part, &keys, &out), &out);
	if (status != JITCACHE_OK)
		return status;
	if (c->keys != NULL)
		jc_blob_release(c->keys);
	c->keys = keys;
	c->next = 0;
	c->part++;
	return JITCACHE_OK;
}

/* next_entry returns the next entry. After MOST entries that are skipped it returns
 * BUSY. */
static int32_t next_entry(cursor *c, const jc_core *core, void *cache, jc_blob **json)
{
	for (int looked = 0; looked < MOST || JC_CONTROL == JC_STAYS;) {
		int32_t status;
		if (c->keys == NULL || c->next == c->keys->size) {
			status = next_part(c, core, cache);
			if (status != JITCACHE_OK)
				return status;
			continue;
		}
		jc_out out = {0};
		uint8_t *id = c->keys->data + c->next;
		c->next += KEY_SIZE;
		looked++;
		status = jc_finish(core->describe(cache, id, c->kind, json, &out), &out);
		if (status != JITCACHE_MISS)
			return status;
	}
	return JITCACHE_BUSY;
}

static int32_t next(cursor *c, jc_blob **json)
{
	int32_t status = JITCACHE_OK;
	jc_cache *cache = jc_handle_enter(c->cache, JC_CACHE);
	if (cache == NULL)
		return jc_bad_handle(JC_POINTER(jitcache_cache, c->cache), "cache");
	const jc_core *core = jc_core_get();
	void *half = core != NULL ? jc_cache_core(cache, core, &status) : NULL;
	if (core == NULL)
		status = jc_no_core();
	if (status == JITCACHE_OK)
		status = next_entry(c, core, half, json);
	jc_handle_leave(c->cache);
	return status;
}

int32_t jitcache_cursor_next(jitcache_cursor *handle, jitcache_blob **json)
{
	jc_blob *b = NULL;
	jc_thread_unwind();
	if (json == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "json: NULL");
	*json = NULL;
	cursor *c = jc_handle_enter(JC_HANDLE(handle), JC_CURSOR);
	if (c == NULL)
		return jc_bad_handle(handle, "cursor");
	int32_t status = next(c, &b);
	if (b != NULL && JC_CONTROL == JC_HOARDS)
		jc_blob_retain(b);
	if (b != NULL)
		status = jc_blob_handle(b, 0, json);
	jc_handle_leave(JC_HANDLE(handle));
	jc_log_drain();
	return status;
}

void jitcache_cursor_free(jitcache_cursor *cursor)
{
	if (cursor != NULL && !jc_handle_close(JC_HANDLE(cursor), JC_CURSOR))
		jc_bad_handle(cursor, "cursor");
}
