/* The C half of the library under ThreadSanitizer, over a core in C: every
 * thread does everything at once, with shared keys and caches that are closed
 * meanwhile. Go's half has go test -race.
 *
 *	race ROUNDS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../capi/core.h"
#include "../../capi/handles.h"
#include "../../capi/key.h"

enum { THREADS = 8, KEYS = 64, TURNS = 300 };

/* ---- the core: a cache is its tier in memory, and what is not there is missing */

static jc_front *front;

static int32_t start(jc_front *f)
{
	front = f;
	return JITCACHE_OK;
}

static int32_t fine(void) { return JITCACHE_OK; }

static _Atomic int opens;
static _Atomic long misses; /* reported */

static int32_t open_it(char *settings, size_t size, jc_memory *memory, jc_opened *opened, jc_out *out)
{
	(void)settings, (void)size, (void)out;
	/* Small: entries are evicted all the time. */
	opened->memory = memory != NULL ? memory : jc_memory_new(20000);
	opened->core = opened->memory;
	/* Every other one looks for files by itself, and finds none. */
	opened->entries = atomic_fetch_add(&opens, 1) % 2 == 0 ? strdup("/nowhere/") : NULL;
	opened->lookups = 1;
	return JITCACHE_OK;
}

static int32_t close_it(void *core)
{
	(void)core;
	return JITCACHE_OK;
}

static jc_blob *blob_of(const uint8_t *sealed, const void *data, size_t size)
{
	jc_blob *b = jc_blob_new(size);
	if (b == NULL)
		abort();
	memcpy(b->data, data, size);
	memcpy(b->id, sealed + JC_SEALED_ID, 32);
	memcpy(b->kind, sealed + JC_SEALED_KIND, 16);
	b->size = size;
	return b;
}

static int32_t get(void *core, uint8_t *sealed, size_t n, jc_file *file, jc_blob **blob, jc_out *out)
{
	(void)n, (void)file;
	out->reason = JITCACHE_REASON_ABSENT;
	/* Some keys are on disk. */
	if (blob == NULL || (sealed[JC_SEALED_ID] & 3) != 0)
		return JITCACHE_MISS;
	char data[100];
	memset(data, 7, sizeof data);
	uint64_t ticket = jc_memory_ticket(core, sealed + JC_SEALED_ID);
	*blob = blob_of(sealed, data, sizeof data);
	jc_memory_keep(core, *blob, ticket);
	return JITCACHE_OK;
}

static int32_t get_into(
	void *core, uint8_t *sealed, size_t n, jc_file *file, uint8_t *buf, size_t cap, size_t *size, jc_out *out)
{
	(void)buf, (void)cap, (void)size;
	return get(core, sealed, n, file, NULL, out);
}

static int32_t put(void *core, uint8_t *sealed, size_t n, uint8_t *data, size_t size, char *attributes, uint32_t flags,
	int64_t took, jc_out *out)
{
	(void)n, (void)attributes, (void)took, (void)out;
	jc_blob *b = blob_of(sealed, data, size);
	jc_memory_change change = jc_memory_begin(core, b->id, (flags & JITCACHE_REPLACE) != 0);
	jc_memory_end(core, b->id, change, 1, b);
	jc_blob_release(b);
	front->log(JITCACHE_LOG_WARNING, strdup("a line"));
	return JITCACHE_OK;
}

typedef struct granted {
	void *core;
	uint8_t sealed[64];
} granted;

static int32_t acquire(void *core, uint8_t *sealed, size_t n, int64_t timeout_ms, int32_t flags, jc_blob **blob,
	void **lease, jc_out *out)
{
	(void)n, (void)timeout_ms, (void)flags, (void)blob;
	granted *g = malloc(sizeof *g);
	g->core = core;
	memcpy(g->sealed, sealed, sizeof g->sealed);
	*lease = g;
	out->reason = JITCACHE_REASON_ABSENT;
	return JITCACHE_LEASE;
}

static int32_t commit(
	void *lease, uint8_t *data, size_t size, char *attributes, int32_t want, jc_blob **blob, jc_out *out)
{
	granted *g = lease;
	if (want)
		*blob = blob_of(g->sealed, data, size);
	put(g->core, g->sealed, sizeof g->sealed, data, size, attributes, 0, -1, out);
	free(g);
	return JITCACHE_OK;
}

static int32_t release(void *lease)
{
	free(lease);
	return JITCACHE_OK;
}

static int32_t missed(void *core, char *kind, int32_t why, uint64_t n)
{
	(void)core, (void)why;
	if (strcmp(kind, "generic") != 0)
		abort();
	atomic_fetch_add(&misses, (long)n);
	return JITCACHE_OK;
}

static int32_t take(void *core, uint8_t *sealed, size_t n, jc_out *out)
{
	(void)n, (void)out;
	jc_memory_change change = jc_memory_begin(core, sealed + JC_SEALED_ID, 1);
	jc_memory_end(core, sealed + JC_SEALED_ID, change, 1, NULL);
	return change.dropped ? JITCACHE_OK : JITCACHE_MISS;
}

static int32_t maintain(void *core, uint8_t *id, int32_t due)
{
	jc_memory_hits hits[JC_MEMORY_KINDS];
	(void)id, (void)due;
	jc_memory_drain(core, hits);
	return JITCACHE_OK;
}

static int32_t clear(void *core, char *kind, jc_out *out)
{
	(void)out;
	jc_memory_begin_clear(core, kind);
	jc_memory_end_clear(core);
	return JITCACHE_OK;
}

static int32_t stats(void *core, jc_blob **json, jc_out *out)
{
	static const uint8_t sealed[64] = "";
	uint64_t bytes, count;
	(void)out;
	jc_memory_size(core, &bytes, &count);
	*json = blob_of(sealed, "{}", 2);
	return JITCACHE_OK;
}

static int32_t pin(void *core, jc_blob *blob, char *tempdir, jc_pin *made, jc_out *out)
{
	(void)core, (void)blob, (void)tempdir, (void)out;
	*made = (jc_pin){strdup("/nowhere"), -1};
	return JITCACHE_OK;
}

static int32_t seal(uint8_t *packed, size_t npacked, uint8_t *inputs, size_t ninputs, char *name, char *kind,
	uint8_t **sealed, size_t *nsealed, jc_out *out)
{
	(void)inputs, (void)ninputs, (void)name, (void)out;
	uint64_t h = 14695981039346656037u;
	for (size_t i = 0; i < npacked; i++)
		h = (h ^ packed[i]) * 1099511628211u;
	*nsealed = 66;
	*sealed = calloc(1, *nsealed);
	for (int i = 0; i < 32; i++)
		(*sealed)[JC_SEALED_ID + i] = (uint8_t)(h >> (8 * (i % 8)));
	memcpy(*sealed + JC_SEALED_KIND, kind, strnlen(kind, 16));
	return JITCACHE_OK;
}

const jc_core jitcache_private_core = {
	.size = sizeof(jc_core),
	.start = start,
	.thread_enter = fine,
	.open = open_it,
	.close = close_it,
	.flush = close_it,
	.leave_process = fine,
	.get = get,
	.get_into = get_into,
	.put = put,
	.acquire = acquire,
	.commit = commit,
	.release = release,
	.missed = missed,
	.remove = take,
	.maintain = maintain,
	.clear = clear,
	.stats = stats,
	.pin = pin,
	.key_seal = seal,
};

/* ---- the threads */

static jitcache_cache *_Atomic cache;
static jitcache_key *keys[KEYS];
static _Atomic long done, stale;

static int32_t compile(void *user, jitcache_lease *lease) { return jitcache_commit(lease, user, 100, NULL, NULL); }

static void on_log(void *user, int32_t level, const char *text) { (void)user, (void)level, (void)text; }

/* A handle may have been closed by another thread: then the status says so. */
static void count(int32_t status)
{
	if (status < 0 && status != JITCACHE_ERR_HANDLE) {
		printf("status %d: %s\n", (int)status, jitcache_last_error());
		exit(1);
	}
	atomic_fetch_add_explicit(status < 0 ? &stale : &done, 1, memory_order_relaxed);
}

static void use(jitcache_blob *b)
{
	const char *path;
	jitcache_blob_retain(b);
	jitcache_blob_path(b, &path);
	if (jitcache_blob_size(b) != 100 || ((const char *)jitcache_blob_data(b))[99] != 7 ||
		strcmp(jitcache_blob_kind(b), "generic") != 0)
		exit(1);
	jitcache_blob_release(b);
	jitcache_blob_release(b);
}

static jitcache_key *key_of(int i)
{
	jitcache_key *k;
	if (jitcache_key_new(&k) != JITCACHE_OK)
		exit(1);
	jitcache_key_add(k, "n", &i, sizeof i);
	return k;
}

/* New keys, which all threads then freeze at once. */
static void renew(void)
{
	for (int i = 0; i < KEYS; i++) {
		jitcache_key_free(keys[i]);
		keys[i] = key_of(i);
	}
}

static void turn(unsigned n, char *data)
{
	jitcache_cache *c = atomic_load(&cache);
	int i = (int)(n * 2654435761u >> 8) % KEYS;
	jitcache_key *k = keys[i], *own = NULL;
	jitcache_blob *b = NULL;
	jitcache_lease *l = NULL;
	const void *at;
	size_t size;
	char buffer[100];
	switch (n % 12) {
	case 0: count(jitcache_put(c, k, data, 100, NULL, JITCACHE_REPLACE)); break;
	case 1: count(jitcache_acquire(c, k, -1, &b, &l)); break;
	case 2: count(jitcache_get_or_compile(c, k, -1, compile, data, &b)); break;
	case 3: count(jitcache_get_data(c, k, &b, &at, &size)); break;
	case 4: count(jitcache_get_into(c, k, buffer, sizeof buffer, &size)); break;
	case 5: count(jitcache_used(c, k, 3)); break;
	case 6: count(n % 5 == 0 ? jitcache_clear(c, NULL) : jitcache_remove(c, k)); break;
	case 7: count(jitcache_get(c, own = key_of(i), &b)); break;
	case 8: jitcache_set_log(n % 24 == 8 ? on_log : NULL, NULL); break;
	default: count(jitcache_get(c, k, &b)); break;
	}
	if (l != NULL && n % 24 == 1)
		count(jitcache_commit(l, data, 100, NULL, NULL));
	jitcache_lease_free(l);
	jitcache_key_free(own);
	if (b != NULL)
		use(b);
}

static pthread_barrier_t gate;

static void *thread(void *p)
{
	long rounds = *(long *)p;
	unsigned n = (unsigned)(uintptr_t)pthread_self();
	char data[100];
	memset(data, 7, sizeof data);
	for (long r = 0; r < rounds; r++) {
		int first = pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD;
		if (first)
			renew();
		pthread_barrier_wait(&gate);
		for (int i = 0; i < TURNS; i++) {
			turn(n = n * 1103515245u + 12345u, data);
			if (first && i == TURNS / 2) {
				/* Close it under the others' hands, and give them another. */
				jitcache_cache *next, *old;
				if (jitcache_open(NULL, &next) != JITCACHE_OK)
					exit(1);
				old = atomic_exchange(&cache, next);
				count(jitcache_close(old));
			}
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	pthread_t t[THREADS];
	jitcache_cache *c;
	if (jitcache_open(NULL, &c) != JITCACHE_OK)
		return 1;
	atomic_store(&cache, c);
	pthread_barrier_init(&gate, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, &rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < KEYS; i++)
		jitcache_key_free(keys[i]);
	jitcache_close(atomic_load(&cache));
	printf("done %ld stale %ld live %llu\n", atomic_load(&done), atomic_load(&stale),
		(unsigned long long)jc_handles_live());
	return misses == 0;
}
