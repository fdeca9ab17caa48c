#include "front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A key is built here as packed components (docs/format.md) and hashed by the
 * core at its first use. Its sealed form is in C memory, so that a key outlives
 * fork and is freed without a call into Go. */

typedef struct bytes {
	uint8_t *data;
	size_t size, room;
} bytes;

struct jc_key {
	bytes packed;
	bytes inputs;
	char *name;
	char kind[17];
	uint8_t *_Atomic sealed; /* NULL until frozen */
	size_t nsealed;
};

enum { MAX_LABEL = 1024, MAX_NAME = 1024, HEADER = 1 + 2 + 8 };

/* A value of this size or more is hashed where it lies, one of less is copied
 * and hashed with the others: a copy of 4 KiB costs as much as a call into Go. */
enum { LARGE = 4096 };

/* In a packed component: the value is the size and the BLAKE3 of the value. */
enum { HASHED = 0x80, HASHED_SIZE = 8 + 32 };

static int reserve(bytes *b, size_t n)
{
	if (b->room - b->size >= n)
		return 1;
	if (n > SIZE_MAX / 4 || b->size > SIZE_MAX / 4)
		return 0;
	size_t room = b->size + n + b->size / 2 + 256;
	uint8_t *data = realloc(b->data, room);
	if (data == NULL)
		return 0;
	b->data = data;
	b->room = room;
	return 1;
}

static void append(bytes *b, const void *p, size_t n)
{
	if (n > 0)
		memcpy(b->data + b->size, p, n);
	b->size += n;
}

static int32_t publish(jc_key *k, jitcache_key **out)
{
	jc_handle h = k == NULL ? 0 : jc_slot_new(JC_KEY, k, (jc_extra){0});
	if (h == 0) {
		if (k != NULL)
			jc_key_destroy(k);
		return jc_fail(JITCACHE_ERR_MEMORY, "key: no memory");
	}
	*out = JC_TO(jitcache_key, h);
	return JITCACHE_OK;
}

static jc_key *make(void)
{
	jc_key *k = calloc(1, sizeof *k);
	if (k != NULL)
		strcpy(k->kind, "generic");
	return k;
}

void jc_key_destroy(void *object)
{
	jc_key *k = object;
	free(k->packed.data);
	free(k->inputs.data);
	free(k->name);
	free(k->sealed);
	free(k);
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
	if (key != NULL && !jc_slot_close(JC_OF(key), JC_KEY))
		jc_bad_handle(key, "key");
}

/* open_key enters a key that may still be built. */
static jc_key *open_key(jitcache_key *key, int32_t *status)
{
	jc_key *k = jc_slot_enter(JC_OF(key), JC_KEY);
	if (k == NULL) {
		*status = jc_bad_handle(key, "key");
		return NULL;
	}
	if (atomic_load(&k->sealed) != NULL) {
		jc_slot_leave(JC_OF(key));
		*status = jc_fail(JITCACHE_ERR_FROZEN, "key: used already, nothing can be added");
		return NULL;
	}
	return k;
}

static uint64_t little(const uint8_t *p, int n)
{
	uint64_t v = 0;
	for (int i = n; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* next walks packed components. It returns the size of the one at p, 0 if there
 * are not so many bytes. */
static size_t next(const uint8_t *p, size_t n, const char **label, size_t *nlabel)
{
	if (n < HEADER)
		return 0;
	*nlabel = (size_t)little(p + 1, 2);
	uint64_t nvalue = little(p + 3, 8);
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

static void put_little(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* hash_now makes the value of a HASHED component, if there is a core to do it.
 * If there is not, whoever needs the whole key will find out. */
static int hash_now(const void *data, size_t size, uint8_t value[HASHED_SIZE])
{
	const jc_core *core = jc_core_enter();
	if (core == NULL)
		return 0;
	put_little(value, size, 8);
	return core->key_digest((uint8_t *)data, size, value + 8) == JITCACHE_OK;
}

static int32_t add(jc_key *k, int tag, const char *label, size_t nlabel, const void *data, size_t size)
{
	uint8_t hashed[HASHED_SIZE], head[HEADER];
	int32_t status = check_label(k, label, nlabel);
	if (status != JITCACHE_OK)
		return status;
	if (size >= LARGE && hash_now(data, size, hashed)) {
		tag |= HASHED;
		data = hashed;
		size = sizeof hashed;
	}
	if (size > SIZE_MAX / 4 || !reserve(&k->packed, HEADER + nlabel + size))
		return jc_fail(JITCACHE_ERR_MEMORY, "component \"%.*s\": no memory", (int)nlabel, label);
	head[0] = (uint8_t)tag;
	put_little(head + 1, nlabel, 2);
	put_little(head + 3, size, 8);
	append(&k->packed, head, HEADER);
	append(&k->packed, label, nlabel);
	append(&k->packed, data, size);
	return JITCACHE_OK;
}

int32_t jitcache_key_add(jitcache_key *key, const char *label, const void *data, size_t size)
{
	int32_t status;
	jc_thread_unwind();
	if (label == NULL || (data == NULL && size > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "component: NULL");
	jc_key *k = open_key(key, &status);
	if (k == NULL)
		return status;
	status = add(k, 'b', label, strlen(label), data, size);
	jc_slot_leave(JC_OF(key));
	return status;
}

int32_t jitcache_key_add_packed(jitcache_key *key, const void *packed, size_t size)
{
	int32_t status;
	jc_thread_unwind();
	if (packed == NULL && size > 0)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "packed components: NULL");
	jc_key *k = open_key(key, &status);
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
	jc_slot_leave(JC_OF(key));
	return status;
}

/* add_read adds a component whose value the core reads from a file. */
static int32_t add_read(jitcache_key *key, int tag, const char *label, const char *path)
{
	int32_t status;
	jc_thread_unwind();
	if (label == NULL || path == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "component: NULL");
	jc_key *k = open_key(key, &status);
	if (k == NULL)
		return status;
	const jc_core *core = jc_core_enter();
	if (core == NULL) {
		jc_slot_leave(JC_OF(key));
		return jc_no_core();
	}
	uint8_t *value = NULL, *input = NULL;
	size_t nvalue = 0, ninput = 0;
	jc_out out = {0};
	status = jc_finish(core->key_input(tag, (char *)path, &value, &nvalue, &input, &ninput, &out), &out);
	if (status == JITCACHE_OK && !reserve(&k->inputs, ninput))
		status = jc_fail(JITCACHE_ERR_MEMORY, "component \"%s\": no memory", label);
	if (status == JITCACHE_OK)
		status = add(k, tag, label, strlen(label), value, nvalue);
	if (status == JITCACHE_OK)
		append(&k->inputs, input, ninput);
	free(value);
	free(input);
	jc_slot_leave(JC_OF(key));
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

int32_t jitcache_key_set_name(jitcache_key *key, const char *name)
{
	int32_t status;
	if (name == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key name: NULL");
	if (strlen(name) > MAX_NAME)
		return jc_fail(JITCACHE_ERR_KEY, "key name: want at most %d bytes, have %zu", MAX_NAME, strlen(name));
	jc_key *k = open_key(key, &status);
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
	jc_slot_leave(JC_OF(key));
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
	jc_key *k = open_key(key, &status);
	if (k == NULL)
		return status;
	strcpy(k->kind, kind);
	jc_slot_leave(JC_OF(key));
	return JITCACHE_OK;
}

static int32_t seal(jc_key *k)
{
	const jc_core *core = jc_core_enter();
	if (core == NULL)
		return jc_no_core();
	pthread_mutex_lock(&jc_seal_lock);
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
			k->packed = k->inputs = (bytes){0};
		}
	}
	pthread_mutex_unlock(&jc_seal_lock);
	return status;
}

const uint8_t *jc_key_sealed_now(jc_key *k) { return atomic_load_explicit(&k->sealed, memory_order_acquire); }

const uint8_t *jc_key_sealed(jc_key *k, size_t *size, int32_t *status)
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
	static const char digits[] = "0123456789abcdef";
	int32_t status;
	size_t n;
	jc_thread_unwind();
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	out[0] = 0;
	jc_key *k = jc_slot_enter(JC_OF(key), JC_KEY);
	if (k == NULL)
		return jc_bad_handle(key, "key");
	const uint8_t *sealed = jc_key_sealed(k, &n, &status);
	if (sealed != NULL) {
		for (int i = 0; i < 32; i++) {
			out[2 * i] = digits[sealed[JC_SEALED_ID + i] >> 4];
			out[2 * i + 1] = digits[sealed[JC_SEALED_ID + i] & 15];
		}
		out[64] = 0;
		status = JITCACHE_OK;
	}
	jc_slot_leave(JC_OF(key));
	return status;
}

int32_t jitcache_key_save(jitcache_key *key, void *buffer, size_t capacity, size_t *size)
{
	int32_t status;
	jc_thread_unwind();
	if (size == NULL || (buffer == NULL && capacity > 0))
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*size = 0;
	jc_key *k = jc_slot_enter(JC_OF(key), JC_KEY);
	if (k == NULL)
		return jc_bad_handle(key, "key");
	const uint8_t *sealed = jc_key_sealed(k, size, &status);
	if (sealed != NULL) {
		status = *size <= capacity ? JITCACHE_OK : JITCACHE_TOO_SMALL;
		if (status == JITCACHE_OK)
			memcpy(buffer, sealed, *size);
	}
	jc_slot_leave(JC_OF(key));
	return status;
}

static int32_t from_sealed(const void *sealed, size_t size, jitcache_key **out)
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
	const jc_core *core = jc_core_enter();
	if (core == NULL)
		return jc_no_core();
	jc_out result = {0};
	int32_t status = jc_finish(core->key_check((uint8_t *)saved, size, &result), &result);
	return status == JITCACHE_OK ? from_sealed(saved, size, out) : status;
}

int32_t jitcache_key_from_digest(const uint8_t digest[32], jitcache_key **out)
{
	if (digest == NULL || out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "key: NULL");
	*out = NULL;
	/* The sealed form of a key with nothing but an id and a kind. */
	uint8_t sealed[8 + 32 + 16 + 2 + 4 + 4] = "jckey\0\0\1";
	memcpy(sealed + JC_SEALED_ID, digest, 32);
	memcpy(sealed + JC_SEALED_ID + 32, "generic", 7);
	return from_sealed(sealed, sizeof sealed, out);
}
