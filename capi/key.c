/* key.c: keys. A key is built from components (component.c). The core hashes it at
 * its first use. Its sealed form is in C memory, so that a key survives fork and is
 * freed without a call into Go. */
#include "key.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "handles.h"
#include "locks.h"
#include "runtime.h"
#include "thread.h"

enum { MAX_NAME = 1024 };

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	jc_key *k = object;
	free(k->packed.data);
	free(k->inputs.data);
	free(k->name);
	free(k->sealed);
	free(k);
}

static int32_t publish(jc_key *k, jitcache_key **out)
{
	jc_handle h = k == NULL ? 0 : jc_handle_new(JC_KEY, k, (jc_extra){0}, destroy);
	if (h == 0) {
		if (k != NULL)
			destroy(k, NULL);
		return jc_fail(JITCACHE_ERR_MEMORY, "key: no memory");
	}
	*out = JC_POINTER(jitcache_key, h);
	return JITCACHE_OK;
}

static jc_key *make(void)
{
	jc_key *k = calloc(1, sizeof *k);
	if (k != NULL)
		strcpy(k->kind, "generic");
	return k;
}

int32_t jitcache_key_new(jitcache_key **out)
{
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*out = NULL;
	return publish(make(), out);
}

void jitcache_key_free(jitcache_key *key)
{
	if (key != NULL && !jc_handle_close(JC_HANDLE(key), JC_KEY))
		jc_bad_handle(key, "key");
}

jc_key *jc_key_open(jitcache_key *key, int32_t *status)
{
	jc_key *k = jc_handle_enter(JC_HANDLE(key), JC_KEY);
	if (k == NULL) {
		*status = jc_bad_handle(key, "key");
		return NULL;
	}
	if (atomic_load(&k->sealed) != NULL) {
		jc_handle_leave(JC_HANDLE(key));
		*status = jc_fail(JITCACHE_ERR_FROZEN, "key: used already, nothing can be added");
		return NULL;
	}
	return k;
}

int32_t jitcache_key_set_name(jitcache_key *key, const char *name)
{
	int32_t status;
	if (name == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key name: NULL");
	if (strlen(name) > MAX_NAME)
		return jc_fail(JITCACHE_ERR_KEY, "key name: want at most %d bytes, have %zu", MAX_NAME, strlen(name));
	jc_key *k = jc_key_open(key, &status);
	if (k == NULL)
		return status;
	char *copy = strdup(name);
	status = JITCACHE_OK;
	if (copy == NULL) {
		status = jc_fail(JITCACHE_ERR_MEMORY, "key name: no memory");
	} else {
		free(k->name);
		k->name = copy;
	}
	jc_handle_leave(JC_HANDLE(key));
	return status;
}

int32_t jitcache_key_set_kind(jitcache_key *key, const char *kind)
{
	int32_t status;
	if (kind == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "kind: NULL");
	size_t n = strlen(kind);
	if (n == 0 || n > 16 || strspn(kind, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != n)
		return jc_fail(JITCACHE_ERR_KEY, "kind \"%.40s\": want 1 to 16 of a-z, 0-9, '_', '-', '.'", kind);
	jc_key *k = jc_key_open(key, &status);
	if (k == NULL)
		return status;
	strcpy(k->kind, kind);
	jc_handle_leave(JC_HANDLE(key));
	return JITCACHE_OK;
}

static int32_t seal(jc_key *k)
{
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	jc_mutex_lock(&jc_freeze_lock);
	int32_t status = JITCACHE_OK;
	if (atomic_load(&k->sealed) == NULL) {
		uint8_t *sealed = NULL;
		size_t n = 0;
		jc_out out = {0};
		status = core->key_seal(k->packed.data, k->packed.size, k->inputs.data, k->inputs.size,
			k->name != NULL ? k->name : (char *)"", k->kind, &sealed, &n, &out);
		status = jc_finish(status, &out);
		if (status == JITCACHE_OK) {
			k->nsealed = n;
			atomic_store(&k->sealed, sealed);
			free(k->packed.data);
			free(k->inputs.data);
			k->packed = k->inputs = (jc_bytes){0};
		}
	}
	jc_mutex_unlock(&jc_freeze_lock);
	return status;
}

const uint8_t *jc_key_sealed(jc_key *k) { return atomic_load_explicit(&k->sealed, memory_order_acquire); }

const uint8_t *jc_key_seal(jc_key *k, size_t *size, int32_t *status)
{
	uint8_t *sealed = atomic_load_explicit(&k->sealed, memory_order_acquire);
	if (sealed == NULL) {
		*status = seal(k);
		if (*status != JITCACHE_OK)
			return NULL;
		sealed = atomic_load(&k->sealed);
	}
	*size = k->nsealed;
	return sealed;
}

int32_t jitcache_key_hex(jitcache_key *key, char out[65])
{
	int32_t status;
	size_t n;
	jc_thread_unwind();
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	out[0] = 0;
	jc_key *k = jc_handle_enter(JC_HANDLE(key), JC_KEY);
	if (k == NULL)
		return jc_bad_handle(key, "key");
	const uint8_t *sealed = jc_key_seal(k, &n, &status);
	if (sealed != NULL) {
		jc_hex(out, sealed + JC_SEALED_ID, 32);
		out[64] = 0;
		status = JITCACHE_OK;
	}
	jc_handle_leave(JC_HANDLE(key));
	return status;
}

int32_t jitcache_key_save(jitcache_key *key, void *buffer, size_t capacity, size_t *size)
{
	int32_t status;
	jc_thread_unwind();
	if (size == NULL || (buffer == NULL && capacity > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*size = 0;
	jc_key *k = jc_handle_enter(JC_HANDLE(key), JC_KEY);
	if (k == NULL)
		return jc_bad_handle(key, "key");
	const uint8_t *sealed = jc_key_seal(k, size, &status);
	if (sealed != NULL) {
		status = *size <= capacity ? JITCACHE_OK : JITCACHE_TOO_SMALL;
		if (status == JITCACHE_OK)
			memcpy(buffer, sealed, *size);
	}
	jc_handle_leave(JC_HANDLE(key));
	return status;
}

int32_t jc_key_from_sealed(const void *sealed, size_t size, jitcache_key **out)
{
	jc_key *k = make();
	uint8_t *copy = malloc(size);
	if (k == NULL || copy == NULL) {
		free(k);
		free(copy);
		return jc_fail(JITCACHE_ERR_MEMORY, "key: no memory");
	}
	memcpy(copy, sealed, size);
	k->nsealed = size;
	atomic_init(&k->sealed, copy);
	return publish(k, out);
}

int32_t jitcache_key_load(const void *saved, size_t size, jitcache_key **out)
{
	jc_thread_unwind();
	if (saved == NULL || out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*out = NULL;
	const jc_core *core = jc_core_get();
	if (core == NULL)
		return jc_no_core();
	jc_out result = {0};
	int32_t status = jc_finish(core->key_check((uint8_t *)saved, size, &result), &result);
	return status == JITCACHE_OK ? jc_key_from_sealed(saved, size, out) : status;
}

int32_t jitcache_key_from_digest(const uint8_t digest[32], jitcache_key **out)
{
	if (digest == NULL || out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*out = NULL;
	/* The sealed form of a key that has only an id and a kind. */
	uint8_t sealed[8 + 32 + 16 + 2 + 4 + 4] = "jckey\0\0\2";
	memcpy(sealed + JC_SEALED_ID, digest, 32);
	memcpy(sealed + JC_SEALED_ID + 32, "generic", 7);
	return jc_key_from_sealed(sealed, sizeof sealed, out);
}
