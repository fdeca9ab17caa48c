/* blob_handle.c: what jitcache.h says of blobs: their bytes, attributes and paths. */
#include "blob_handle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "stale_temp_files.h"
#include "locks.h"
#include "log.h"
#include "runtime.h"
#include "thread.h"

/* A path that was made for a handle. */
typedef struct jc_path {
	char *text;
	int fd;   /* the memory file that the path leads to, -1 if it leads to another file */
	long pid; /* the process that made it */
} jc_path;

/* remove_file removes a path that the core has made. The path had no symbolic links
 * then. If it has one now, another user has put it there, and it is not followed. */
static void remove_file(char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int folder = open("/", flags);
	char *name = path + 1;
	for (char *slash; folder >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		*slash = 0;
		int next = openat(folder, name, flags);
		close(folder);
		folder = next;
	}
	if (folder >= 0) {
		unlinkat(folder, name, 0);
		close(folder);
	}
}

static void release_path(jc_path *p)
{
	/* A forked child must not take its parent's path away. */
	if (p->pid == (long)getpid()) {
		if (p->fd >= 0)
			close(p->fd);
		else
			remove_file(p->text);
	}
	free(p->text);
	free(p);
}

static void destroy(void *object, jc_extra *extra)
{
	if (extra->path != NULL)
		release_path(extra->path);
	jc_blob_release(object);
}

int32_t jc_blob_handle(jc_blob *b, jc_handle cache, jitcache_blob **out)
{
	jc_handle h = jc_handle_new(JC_BLOB, b, (jc_extra){cache, NULL}, destroy);
	if (h == 0) {
		jc_blob_release(b);
		return jc_fail(JITCACHE_ERR_MEMORY, "blob: no memory");
	}
	*out = JC_POINTER(jitcache_blob, h);
	return JITCACHE_OK;
}

static const jc_blob *peek(const jitcache_blob *blob)
{
	const jc_blob *b = jc_handle_peek(JC_HANDLE(blob), JC_BLOB);
	if (b == NULL)
		jc_bad_handle(blob, "blob");
	return b;
}

const void *jitcache_blob_data(const jitcache_blob *blob)
{
	const jc_blob *b = peek(blob);
	return b == NULL ? NULL : b->data;
}

size_t jitcache_blob_size(const jitcache_blob *blob)
{
	const jc_blob *b = peek(blob);
	return b == NULL ? 0 : b->size;
}

const char *jitcache_blob_attributes(const jitcache_blob *blob)
{
	const jc_blob *b = peek(blob);
	return b == NULL ? "" : b->attributes;
}

const char *jitcache_blob_kind(const jitcache_blob *blob)
{
	const jc_blob *b = peek(blob);
	return b == NULL ? "" : b->kind;
}

const char *jitcache_blob_name(const jitcache_blob *blob)
{
	const jc_blob *b = peek(blob);
	return b == NULL ? "" : b->name;
}

static int32_t make_path(jc_blob *b, jc_extra *extra)
{
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	jc_path *p = malloc(sizeof *p);
	if (p == NULL)
		return jc_fail(JITCACHE_ERR_MEMORY, "blob: no memory");
	jc_cache *c = extra->cache != 0 ? jc_handle_enter(extra->cache, JC_CACHE) : NULL;
	int32_t status;
	void *cache = c != NULL ? jc_cache_core(c, core, &status) : NULL;
	jc_out out = {0};
	jc_pin pin = {NULL, -1};
	status = core->pin(cache, b, (char *)jc_temp_folder(), &pin, &out);
	status = jc_finish(status, &out);
	if (status == JITCACHE_OK) {
		*p = (jc_path){pin.path, pin.fd, (long)getpid()};
		extra->path = p;
	} else {
		free(p);
	}
	if (c != NULL)
		jc_handle_leave(extra->cache);
	return status;
}

int32_t jitcache_blob_path(jitcache_blob *blob, const char **path)
{
	jc_thread_unwind();
	if (path == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "blob: NULL");
	*path = NULL;
	jc_blob *b = jc_handle_enter(JC_HANDLE(blob), JC_BLOB);
	if (b == NULL)
		return jc_bad_handle(blob, "blob");
	jc_extra *extra = jc_handle_extra(JC_HANDLE(blob));
	int32_t status = JITCACHE_OK;
	jc_mutex_lock(&jc_path_lock);
	if (extra->path == NULL)
		status = make_path(b, extra);
	if (status == JITCACHE_OK)
		*path = extra->path->text;
	jc_mutex_unlock(&jc_path_lock);
	jc_handle_leave(JC_HANDLE(blob));
	jc_log_drain();
	return status;
}

void jitcache_blob_retain(jitcache_blob *blob)
{
	if (jc_handle_enter(JC_HANDLE(blob), JC_BLOB) == NULL)
		jc_bad_handle(blob, "blob");
}

void jitcache_blob_release(jitcache_blob *blob)
{
	if (blob != NULL && !jc_handle_release(JC_HANDLE(blob), JC_BLOB))
		jc_bad_handle(blob, "blob");
}
