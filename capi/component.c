/* component.c: the components of a key until it is hashed, in their packed form
 * (docs/format.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "core.h"
#include "handles.h"
#include "key.h"
#include "log.h"
#include "runtime.h"
#include "thread.h"

enum { MAX_LABEL = 1024, HEADER = 1 + 2 + 8 };

/* A value of this size or more is hashed in place. A smaller one is copied, and
 * hashed with the others: a copy of 4 KiB costs as much as a call into Go. */
enum { LARGE = 4096 };

/* The bit of the tag that marks a hashed component: in place of the value are its
 * size and its BLAKE3. */
enum { HASHED = 0x80, HASHED_SIZE = 8 + 32 };

/* next returns the size of the packed component at p, 0 if n bytes are too few for
 * it. */
static size_t next(const uint8_t *p, size_t n, const char **label, size_t *nlabel)
{
	if (n < HEADER)
		return 0;
	*nlabel = (size_t)jc_little(p + 1, 2);
	uint64_t nvalue = jc_little(p + 3, 8);
	*label = (const char *)p + HEADER;
	if (*nlabel > n - HEADER || nvalue > n - HEADER - *nlabel)
		return 0;
	return HEADER + *nlabel + (size_t)nvalue;
}

static int32_t check_label(const jc_key *k, const char *label, size_t n)
{
	if (n == 0 || n > MAX_LABEL)
		return jc_fail(JITCACHE_ERR_KEY, "component label: want 1 to %d bytes, have %zu", MAX_LABEL, n);
	const char *other;
	size_t nother, size;
	for (size_t at = 0; (size = next(k->packed.data + at, k->packed.size - at, &other, &nother)) > 0; at += size)
		if (nother == n && memcmp(other, label, n) == 0)
			return jc_fail(JITCACHE_ERR_KEY, "component \"%.*s\": label used twice", (int)n, label);
	return JITCACHE_OK;
}

/* hash_now makes the value of a HASHED component. It returns 0 if there is no core
 * to do it; the call that needs the whole key will report that. */
static int hash_now(const void *data, size_t size, uint8_t value[HASHED_SIZE])
{
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return 0;
	jc_put_little(value, size, 8);
	return core->key_digest((uint8_t *)data, size, value + 8) == JITCACHE_OK;
}

static int32_t add(jc_key *k, int tag, const char *label, size_t nlabel, const void *data, size_t size)
{
	uint8_t hashed[HASHED_SIZE], head[HEADER];
	int32_t status = check_label(k, label, nlabel);
	if (status != JITCACHE_OK)
		return status;
	if (size >= LARGE && (tag & HASHED) == 0 && hash_now(data, size, hashed)) {
		tag |= HASHED;
		data = hashed;
		size = sizeof hashed;
	}
	if (size > SIZE_MAX / 4 || !jc_bytes_reserve(&k->packed, HEADER + nlabel + size))
		return jc_fail(JITCACHE_ERR_MEMORY, "component \"%.*s\": no memory", (int)nlabel, label);
	head[0] = (uint8_t)tag;
	jc_put_little(head + 1, nlabel, 2);
	jc_put_little(head + 3, size, 8);
	jc_bytes_append(&k->packed, head, HEADER);
	jc_bytes_append(&k->packed, label, nlabel);
	jc_bytes_append(&k->packed, data, size);
	return JITCACHE_OK;
}

int32_t jitcache_key_add(jitcache_key *key, const char *label, const void *data, size_t size)
{
	int32_t status;
	jc_thread_unwind();
	if (label == NULL || (data == NULL && size > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "component: NULL");
	jc_key *k = jc_key_open(key, &status);
	if (k == NULL)
		return status;
	status = add(k, 'b', label, strlen(label), data, size);
	jc_handle_leave(JC_HANDLE(key));
	return status;
}

int32_t jitcache_key_add_packed(jitcache_key *key, const void *packed, size_t size)
{
	int32_t status;
	jc_thread_unwind();
	if (packed == NULL && size > 0)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "packed components: NULL");
	jc_key *k = jc_key_open(key, &status);
	if (k == NULL)
		return status;
	size_t before = k->packed.size, n, nlabel;
	const char *label;
	status = JITCACHE_OK;
	for (const uint8_t *p = packed; status == JITCACHE_OK && size > 0; p += n, size -= n) {
		n = next(p, size, &label, &nlabel);
		if (n == 0)
			status = jc_fail(JITCACHE_ERR_KEY, "packed components: malformed");
		else
			status = add(k, p[0], label, nlabel, label + nlabel, n - HEADER - nlabel);
	}
	if (status != JITCACHE_OK)
		k->packed.size = before;
	jc_handle_leave(JC_HANDLE(key));
	return status;
}

/* add_read adds a component whose value the core reads from a file. */
static int32_t add_read(jitcache_key *key, int tag, const char *label, const char *path)
{
	int32_t status;
	jc_thread_unwind();
	if (label == NULL || path == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "component: NULL");
	jc_key *k = jc_key_open(key, &status);
	if (k == NULL)
		return status;
	const jc_core *core = jc_core_get();
	if (core == NULL) {
		jc_handle_leave(JC_HANDLE(key));
		return jc_no_core();
	}
	uint8_t *value = NULL, *input = NULL;
	size_t nvalue = 0, ninput = 0;
	jc_out out = {0};
	status = jc_finish(core->key_input(tag, (char *)path, &value, &nvalue, &input, &ninput, &out), &out);
	if (status == JITCACHE_OK && !jc_bytes_reserve(&k->inputs, ninput))
		status = jc_fail(JITCACHE_ERR_MEMORY, "component \"%s\": no memory", label);
	if (status == JITCACHE_OK)
		status = add(k, tag, label, strlen(label), value, nvalue);
	if (status == JITCACHE_OK)
		jc_bytes_append(&k->inputs, input, ninput);
	free(value);
	free(input);
	jc_handle_leave(JC_HANDLE(key));
	jc_log_drain();
	return status;
}

int32_t jitcache_key_add_file(jitcache_key *key, const char *label, const char *path)
{
	return add_read(key, 'F', label, path);
}

/* search finds a program in PATH. It returns 0 if it is not there. */
static int search(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	while (dirs != NULL && *dirs != 0) {
		size_t n = strcspn(dirs, ":");
		int w = snprintf(path, size, "%.*s/%s", (int)n, dirs, name);
		if (n > 0 && w > 0 && (size_t)w < size && access(path, X_OK) == 0)
			return 1;
		dirs += n + (dirs[n] == ':');
	}
	return 0;
}

int32_t jitcache_key_add_tool(jitcache_key *key, const char *label, const char *path)
{
	char found[4096];
	if (path != NULL && strchr(path, '/') == NULL) {
		if (!search(path, found, sizeof found))
			return jc_fail(JITCACHE_ERR_INPUT, "component \"%.100s\": %.200s: not found in PATH",
				label != NULL ? label : "", path);
		path = found;
	}
	return add_read(key, 'T', label, path);
}
