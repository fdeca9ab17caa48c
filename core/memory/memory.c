/* memory.c: lookup, insertion and eviction in the in-process tier. */
#include "tier.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_BUCKETS 16

/* The fields that a search reads and a hit writes are in the first cache line: a hit
 * is so short that half of its time is waiting for cache lines. */
typedef struct node {
	_Alignas(LINE) uint8_t id[32];
	jc_blob *blob;
	struct node *chain; /* next in the bucket */
	uint64_t tick;      /* the tier's clock at the last use */
	int64_t touch_at;
	struct node *older, *newer; /* the shard's recency list */
	uint64_t cost;              /* the blob's, not below 0 */
	int kind;
	int32_t spare; /* references to the blob that are in store for hits, beside the node's own */
} node;

/* So many references are taken at once, because an atomic addition for each would be
 * one of the most expensive parts of a hit. */
#define MANY 256

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

jc_memory *jc_memory_new(uint64_t cap)
{
	jc_memory *m = aligned_alloc(LINE, sizeof *m);
	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof *m);
	m->cap = cap;
	m->flush_at = now_ns() + JC_MEMORY_FLUSH_NS;
	for (int i = 0; i < SHARDS; i++) {
		jc_mutex_init(&m->shards[i].lock, JC_RANK_SHARD);
		m->shards[i].oldest_tick = UINT64_MAX;
	}
	return m;
}

/* Keys are hashes, so their own bytes serve as hash values. The first byte picks the
 * shard, the next eight the bucket. */
static shard *shard_of(jc_memory *m, const uint8_t *id) { return &m->shards[id[0] & (SHARDS - 1)]; }

static size_t bucket_of(const shard *s, const uint8_t *id)
{
	uint64_t h;
	memcpy(&h, id + 1, sizeof h);
	return (size_t)h & (s->nbuckets - 1);
}

static node *find(const shard *s, const uint8_t *id)
{
	if (s->nbuckets == 0)
		return NULL;
	node *n = s->buckets[bucket_of(s, id)];
	while (n != NULL && memcmp(n->id, id, 32) != 0)
		n = n->chain;
	return n;
}

static void list_remove(shard *s, node *n)
{
	*(n->newer ? &n->newer->older : &s->newest) = n->older;
	*(n->older ? &n->older->newer : &s->oldest) = n->newer;
}

static void list_push(shard *s, node *n)
{
	n->newer = NULL;
	n->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = n;
	s->newest = n;
}

static void note_oldest(shard *s)
{
	atomic_store_explicit(&s->oldest_tick, s->oldest ? s->oldest->tick : UINT64_MAX, memory_order_relaxed);
}

/* tick advances the tier's clock and returns it. It makes no atomic addition, which
 * would be the most expensive part of a hit. So two threads at once may get the same
 * time, and one may set the clock back. The next tick of the kernel's clock,
 * milliseconds later, corrects that. */
static uint64_t tick(jc_memory *m, int64_t now)
{
	uint64_t t = atomic_load_explicit(&m->clock, memory_order_relaxed) + 1;
	if (t < (uint64_t)now)
		t = (uint64_t)now;
	atomic_store_explicit(&m->clock, t, memory_order_relaxed);
	return t;
}

/* use finds an entry, makes it the newest, and counts n hits on it. It returns
 * the blob with a reference, or NULL. */
static jc_blob *use(jc_memory *m, const uint8_t *id, uint64_t n_hits, int *due)
{
	shard *s = shard_of(m, id);
	int64_t now = now_ns();
	*due = 0;
	jc_mutex_lock(&s->lock);
	node *n = find(s, id);
	if (n == NULL) {
		jc_mutex_unlock(&s->lock);
		return NULL;
	}
	jc_blob *b = n->blob;
	if (n->spare == 0) {
		jc_blob_retain_many(b, MANY);
		n->spare = MANY;
	}
	n->spare--;
	int was_oldest = s->oldest == n;
	n->tick = tick(m, now);
	if (n->newer != NULL) {
		list_remove(s, n);
		list_push(s, n);
	}
	if (was_oldest)
		note_oldest(s);
	if (now > n->touch_at) {
		n->touch_at = now + JC_MEMORY_TOUCH_NS;
		*due |= JC_MEMORY_TOUCH;
	}
	s->used[n->kind].hits += n_hits;
	s->used[n->kind].saved += n_hits * n->cost;
	jc_mutex_unlock(&s->lock);
	int64_t at = atomic_load_explicit(&m->flush_at, memory_order_relaxed);
	if (now > at && atomic_compare_exchange_strong(&m->flush_at, &at, now + JC_MEMORY_FLUSH_NS))
		*due |= JC_MEMORY_FLUSH;
	return b;
}

jc_blob *jc_memory_get(jc_memory *m, const uint8_t id[32], int *due) { return use(m, id, 1, due); }

int jc_memory_used(jc_memory *m, const uint8_t id[32], uint64_t n, int *due)
{
	jc_blob *b = use(m, id, n, due);
	if (b != NULL)
		jc_blob_release(b);
	return b != NULL;
}

/* weight returns what a blob counts for: its bytes, and about what malloc adds. */
static uint64_t weight(const jc_blob *b) { return b->capacity + sizeof(jc_blob) + sizeof(node); }

static int grow(shard *s)
{
	size_t want = s->nbuckets ? 2 * s->nbuckets : FIRST_BUCKETS;
	node **buckets = calloc(want, sizeof *buckets);
	if (buckets == NULL)
		return 0;
	free(s->buckets);
	s->buckets = buckets;
	s->nbuckets = want;
	for (node *n = s->oldest; n != NULL; n = n->newer) {
		node **head = &s->buckets[bucket_of(s, n->id)];
		n->chain = *head;
		*head = n;
	}
	return 1;
}

/* unlink_node takes n out of its shard, whose lock is held. */
static void unlink_node(jc_memory *m, shard *s, node *n)
{
	node **at = &s->buckets[bucket_of(s, n->id)];
	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	list_remove(s, n);
	s->count--;
	note_oldest(s);
	atomic_fetch_sub_explicit(&m->bytes, weight(n->blob), memory_order_relaxed);
	atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
}

/* drop frees a node that is in no shard; NULL is fine. */
static void drop(node *n)
{
	if (n == NULL)
		return;
	jc_blob_release_many(n->blob, n->spare + 1);
	free(n);
}

/* evict drops least recently used entries until the tier is within its cap. It compares
 * the oldest entries of all shards. Between looking and locking another entry may
 * become the oldest, which does not matter. */
static void evict(jc_memory *m)
{
	while (atomic_load_explicit(&m->bytes, memory_order_relaxed) > m->cap) {
		shard *s = &m->shards[0];
		for (int i = 1; i < SHARDS; i++)
			if (m->shards[i].oldest_tick < s->oldest_tick)
				s = &m->shards[i];
		jc_mutex_lock(&s->lock);
		node *n = s->oldest;
		if (n != NULL)
			unlink_node(m, s, n);
		jc_mutex_unlock(&s->lock);
		if (n == NULL)
			return;
		drop(n);
	}
}

/* new_node makes a node for a blob. It returns NULL if the blob is larger than the cap,
 * or there is no memory. */
static node *new_node(jc_memory *m, jc_blob *b)
{
	if (weight(b) > m->cap)
		return NULL;
	node *n = aligned_alloc(LINE, sizeof *n);
	if (n == NULL)
		return NULL;
	*n = (node){.blob = b, .cost = b->cost > 0 ? (uint64_t)b->cost : 0, .kind = jc_memory_kind(m, b->kind)};
	memcpy(n->id, b->id, 32);
	n->touch_at = now_ns() + JC_MEMORY_TOUCH_NS;
	jc_blob_retain(b);
	return n;
}

/* take_out takes an entry out of its shard, whose lock is held. */
static node *take_out(jc_memory *m, shard *s, const uint8_t *id)
{
	node *n = find(s, id);
	if (n != NULL)
		unlink_node(m, s, n);
	return n;
}

/* link_node puts n, which may be NULL, into its shard, whose lock is held. It returns
 * the node to drop: the one that was there, or n itself if there is no memory. */
static node *link_node(jc_memory *m, shard *s, node *n)
{
	if (n == NULL)
		return NULL;
	node *old = take_out(m, s, n->id);
	if (s->count >= s->nbuckets && !grow(s) && s->nbuckets == 0)
		return n;
	node **head = &s->buckets[bucket_of(s, n->id)];
	n->chain = *head;
	*head = n;
	n->tick = tick(m, n->touch_at - JC_MEMORY_TOUCH_NS);
	list_push(s, n);
	s->count++;
	note_oldest(s);
	atomic_fetch_add_explicit(&m->bytes, weight(n->blob), memory_order_relaxed);
	return old;
}

void jc_memory_put(jc_memory *m, jc_blob *b)
{
	node *n = new_node(m, b);
	if (n == NULL)
		return;
	shard *s = shard_of(m, n->id);
	jc_mutex_lock(&s->lock);
	node *left = link_node(m, s, n);
	jc_mutex_unlock(&s->lock);
	drop(left);
	evict(m);
}

int jc_memory_remove(jc_memory *m, const uint8_t id[32])
{
	shard *s = shard_of(m, id);
	jc_mutex_lock(&s->lock);
	node *n = take_out(m, s, id);
	jc_mutex_unlock(&s->lock);
	drop(n);
	return n != NULL;
}

/* clear_shard drops the entries of a kind from a shard, and adds to the shard's words. */
static void clear_shard(jc_memory *m, int i, const char *kind, uint64_t add)
{
	shard *s = &m->shards[i];
	node *gone = NULL;
	jc_mutex_lock(&s->lock);
	for (int w = i; add != 0 && w < JC_MEMORY_WORDS; w += SHARDS)
		atomic_fetch_add_explicit(&m->words.at[w], add, memory_order_relaxed);
	for (node *n = s->oldest, *next; n != NULL; n = next) {
		next = n->newer;
		if (kind != NULL && strcmp(n->blob->kind, kind) != 0)
			continue;
		unlink_node(m, s, n);
		n->chain = gone;
		gone = n;
	}
	jc_mutex_unlock(&s->lock);
	for (node *next; gone != NULL; gone = next) {
		next = gone->chain;
		drop(gone);
	}
}

void jc_memory_clear(jc_memory *m, const char *kind)
{
	for (int i = 0; i < SHARDS; i++)
		clear_shard(m, i, kind, 0);
}

/* The words (memory.h). Each belongs to one shard, and changes under its lock. */

#define BEGIN ((1ULL << JC_MEMORY_UNDER_WAY) + 1)
#define END ((1ULL << JC_MEMORY_UNDER_WAY) - 1)
#define IS_QUIET(word) (((word) & ((1ULL << JC_MEMORY_UNDER_WAY) - 1)) == 0)

_Static_assert(JC_MEMORY_WORDS % SHARDS == 0 && 256 % SHARDS == 0, "the shard of a word is that of its keys");

static _Atomic uint64_t *word_of(jc_memory *m, const uint8_t *id) { return &m->words.at[jc_memory_word(id)]; }

void jc_memory_keep(jc_memory *m, jc_blob *b, uint64_t ticket)
{
	_Atomic uint64_t *word = word_of(m, b->id);
	node *n = IS_QUIET(ticket) && *word == ticket ? new_node(m, b) : NULL;
	if (n == NULL)
		return;
	shard *s = shard_of(m, b->id);
	jc_mutex_lock(&s->lock);
	node *left = *word == ticket ? link_node(m, s, n) : n;
	jc_mutex_unlock(&s->lock);
	drop(left);
	evict(m);
}

jc_memory_change jc_memory_begin(jc_memory *m, const uint8_t id[32], int old)
{
	shard *s = shard_of(m, id);
	jc_mutex_lock(&s->lock);
	uint64_t before = atomic_fetch_add(word_of(m, id), BEGIN);
	node *n = old ? take_out(m, s, id) : NULL;
	jc_mutex_unlock(&s->lock);
	drop(n);
	return (jc_memory_change){before, old, n != NULL};
}

void jc_memory_end(jc_memory *m, const uint8_t id[32], jc_memory_change change, int changed, jc_blob *b)
{
	node *n = b != NULL ? new_node(m, b) : NULL, *left = NULL;
	shard *s = shard_of(m, id);
	jc_mutex_lock(&s->lock);
	uint64_t before = atomic_fetch_add(word_of(m, id), END);
	/* No other change of the word has overlapped with this one. */
	int alone = IS_QUIET(change.word) && before == change.word + BEGIN;
	if (alone && n != NULL)
		left = link_node(m, s, n);
	else if (changed)
		left = take_out(m, s, id);
	jc_mutex_unlock(&s->lock);
	drop(left);
	if (!alone)
		drop(n);
	if (change.old)
		atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
	evict(m);
}

void jc_memory_begin_clear(jc_memory *m, const char *kind)
{
	for (int i = 0; i < SHARDS; i++)
		clear_shard(m, i, kind, BEGIN);
}

void jc_memory_end_clear(jc_memory *m)
{
	for (int i = 0; i < SHARDS; i++) {
		jc_mutex_lock(&m->shards[i].lock);
		for (int w = i; w < JC_MEMORY_WORDS; w += SHARDS)
			atomic_fetch_add(&m->words.at[w], END);
		jc_mutex_unlock(&m->shards[i].lock);
	}
	atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
}

void jc_memory_free(jc_memory *m)
{
	if (m == NULL)
		return;
	jc_memory_clear(m, NULL);
	for (int i = 0; i < SHARDS; i++) {
		free(m->shards[i].buckets);
		pthread_mutex_destroy(&m->shards[i].lock.lock);
	}
	free(m);
}

void jc_memory_size(jc_memory *m, uint64_t *bytes, uint64_t *count)
{
	*bytes = atomic_load_explicit(&m->bytes, memory_order_relaxed);
	*count = 0;
	for (int i = 0; i < SHARDS; i++) {
		jc_mutex_lock(&m->shards[i].lock);
		*count += m->shards[i].count;
		jc_mutex_unlock(&m->shards[i].lock);
	}
}

const _Atomic uint64_t *jc_memory_epoch(jc_memory *m) { return &m->epoch; }

void jc_memory_fork_prepare(jc_memory *m)
{
	for (int i = 0; i < SHARDS; i++)
		jc_mutex_lock(&m->shards[i].lock);
}

void jc_memory_fork_parent(jc_memory *m)
{
	for (int i = SHARDS - 1; i >= 0; i--)
		jc_mutex_unlock(&m->shards[i].lock);
}

void jc_memory_fork_child(jc_memory *m)
{
	for (int i = 0; i < SHARDS; i++) {
		jc_mutex_init(&m->shards[i].lock, JC_RANK_SHARD);
		memset(m->shards[i].used, 0, sizeof m->shards[i].used);
	}
	/* Changes that were under way belong to the parent, and never end here. */
	for (int w = 0; w < JC_MEMORY_WORDS; w++)
		if (!IS_QUIET(m->words.at[w]))
			m->words.at[w] = ((m->words.at[w] >> JC_MEMORY_UNDER_WAY) + 1) << JC_MEMORY_UNDER_WAY;
}
