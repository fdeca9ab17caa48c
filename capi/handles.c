/* handles.c: the table of handles, which threads read without a lock. */
#include "handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "locks.h"

/* A handle: kind in the low 4 bits, which are never zero; index in the next 24;
 * generation in the upper 36. */
#define INDEX_BITS 24
#define CHUNK 1024
#define CHUNKS ((1 << INDEX_BITS) / CHUNK)

/* The state of a slot: generation, a bit for closed, and references in the low
 * 27 bits. No references: the slot is free. */
#define CLOSED (UINT64_C(1) << 27)
#define REFS (CLOSED - 1)
#define GENERATION(state) ((state) >> 28)

/* A slot has a cache line to itself: its neighbours are other threads'. */
typedef struct slot {
	_Alignas(64) _Atomic uint64_t state;
	void *object;
	_Atomic uint32_t next_free; /* index + 1 */
	_Atomic enum jc_kind kind;  /* atomic: a stale handle reads it while a new one sets it */
	jc_extra extra;
	jc_destroy *destroy;
} slot;

static slot *_Atomic chunks[CHUNKS]; /* never moved, never freed */
static _Atomic uint32_t nslots;      /* slots handed out so far */
static _Atomic uint64_t free_list;   /* index + 1 in the low half, a count against ABA in the upper */

static inline slot *slot_at(uint32_t index)
{
	slot *chunk = atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);
	return chunk == NULL ? NULL : &chunk[index % CHUNK];
}

static jc_handle handle_of(uint32_t index, uint64_t generation, enum jc_kind kind)
{
	return generation << 28 | (uint64_t)index << 4 | (uint64_t)kind;
}

static inline slot *slot_of(jc_handle h, enum jc_kind kind)
{
	uint32_t index = (uint32_t)(h >> 4) & ((1u << INDEX_BITS) - 1);
	if ((h & 15) != (uint64_t)kind || index >= atomic_load_explicit(&nslots, memory_order_acquire))
		return NULL;
	return slot_at(index);
}

/* ---- free slots: each thread keeps a few, so that a hit and its release share nothing
 * with other threads; all others are in one list */

enum { SPARES = 8 };

typedef struct spares {
	uint32_t n, index[SPARES];
} spares;

static pthread_key_t spares_key;
static int spares_ok;

static int pop_free(uint32_t *index)
{
	uint64_t head = atomic_load_explicit(&free_list, memory_order_acquire);
	while ((uint32_t)head != 0) {
		uint32_t next = atomic_load_explicit(&slot_at((uint32_t)head - 1)->next_free, memory_order_relaxed);
		uint64_t want = ((head >> 32) + 1) << 32 | next;
		if (atomic_compare_exchange_weak(&free_list, &head, want)) {
			*index = (uint32_t)head - 1;
			return 1;
		}
	}
	return 0;
}

static void push_free(uint32_t index)
{
	uint64_t head = atomic_load_explicit(&free_list, memory_order_relaxed), want;
	do {
		atomic_store_explicit(&slot_at(index)->next_free, (uint32_t)head, memory_order_relaxed);
		want = ((head >> 32) + 1) << 32 | (index + 1);
	} while (!atomic_compare_exchange_weak(&free_list, &head, want));
}

static void thread_end(void *p)
{
	spares *mine = p;
	while (mine->n > 0)
		push_free(mine->index[--mine->n]);
	free(mine);
}

__attribute__((constructor(102))) static void make_key(void)
{
	spares_ok = pthread_key_create(&spares_key, thread_end) == 0;
}

static void keep_free(uint32_t index)
{
	spares *mine = spares_ok ? pthread_getspecific(spares_key) : NULL;
	if (mine == NULL && spares_ok && (mine = calloc(1, sizeof *mine)) != NULL &&
		pthread_setspecific(spares_key, mine) != 0) {
		free(mine);
		mine = NULL;
	}
	if (mine != NULL && mine->n < SPARES)
		mine->index[mine->n++] = index;
	else
		push_free(index);
}

static int find_free(uint32_t *index)
{
	spares *mine = spares_ok ? pthread_getspecific(spares_key) : NULL;
	if (mine == NULL || mine->n == 0)
		return pop_free(index);
	*index = mine->index[--mine->n];
	return 1;
}

static slot *new_chunk(void)
{
	slot *chunk = aligned_alloc(sizeof *chunk, CHUNK * sizeof *chunk);
	if (chunk != NULL)
		memset(chunk, 0, CHUNK * sizeof *chunk);
	return chunk;
}

static int new_index(uint32_t *index)
{
	jc_mutex_lock(&jc_handles_lock);
	uint32_t n = atomic_load_explicit(&nslots, memory_order_relaxed);
	int ok = n < (1u << INDEX_BITS);
	if (ok && n % CHUNK == 0) {
		slot *chunk = new_chunk();
		ok = chunk != NULL;
		if (ok)
			atomic_store_explicit(&chunks[n / CHUNK], chunk, memory_order_release);
	}
	if (ok)
		atomic_store_explicit(&nslots, n + 1, memory_order_release);
	jc_mutex_unlock(&jc_handles_lock);
	*index = n;
	return ok;
}

/* ---- handles */

jc_handle jc_handle_new(enum jc_kind kind, void *object, jc_extra extra, jc_destroy *destroy)
{
	uint32_t index;
	if (!find_free(&index) && !new_index(&index))
		return 0;
	slot *s = slot_at(index);
	uint64_t generation = GENERATION(atomic_load_explicit(&s->state, memory_order_relaxed)) + 1;
	s->object = object;
	atomic_store_explicit(&s->kind, kind, memory_order_relaxed);
	s->extra = extra;
	s->destroy = destroy;
	atomic_store_explicit(&s->state, generation << 28 | 1, memory_order_release);
	return handle_of(index, generation & ((UINT64_C(1) << 36) - 1), kind);
}

static inline int usable(uint64_t state, jc_handle h, const slot *s, enum jc_kind kind)
{
	return GENERATION(state) == GENERATION(h) && (state & CLOSED) == 0 && (state & REFS) != 0 &&
	       atomic_load_explicit(&s->kind, memory_order_relaxed) == kind;
}

void *jc_handle_enter(jc_handle h, enum jc_kind kind)
{
	slot *s = slot_of(h, kind);
	if (s == NULL)
		return NULL;
	uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire);
	do {
		if (!usable(state, h, s, kind))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->state, &state, state + 1, memory_order_acq_rel, memory_order_acquire));
	return s->object;
}

int jc_handle_hold(jc_handle h)
{
	slot *s = slot_of(h, (enum jc_kind)(h & 15));
	if (s == NULL)
		return 0;
	uint64_t state = atomic_load_explicit(&s->state, memory_order_relaxed);
	do {
		if (GENERATION(state) != GENERATION(h) || (state & REFS) == 0)
			return 0;
	} while (!atomic_compare_exchange_weak(&s->state, &state, state + 1));
	return 1;
}

jc_extra *jc_handle_extra(jc_handle h) { return &slot_of(h, (enum jc_kind)(h & 15))->extra; }

void *jc_handle_peek(jc_handle h, enum jc_kind kind)
{
	slot *s = slot_of(h, kind);
	if (s == NULL || !usable(atomic_load_explicit(&s->state, memory_order_acquire), h, s, kind))
		return NULL;
	return s->object;
}

/* end ends an object whose last reference was dropped. */
static void end(slot *s, jc_handle h)
{
	s->destroy(s->object, &s->extra);
	keep_free((uint32_t)(h >> 4) & ((1u << INDEX_BITS) - 1));
}

static void drop(slot *s, jc_handle h)
{
	if ((atomic_fetch_sub_explicit(&s->state, 1, memory_order_acq_rel) & REFS) == 1)
		end(s, h);
}

void jc_handle_leave(jc_handle h)
{
	slot *s = slot_of(h, (enum jc_kind)(h & 15));
	if (s != NULL)
		drop(s, h);
}

int jc_handle_release(jc_handle h, enum jc_kind kind)
{
	slot *s = slot_of(h, kind);
	if (s == NULL)
		return 0;
	uint64_t state = atomic_load_explicit(&s->state, memory_order_relaxed);
	do {
		if (!usable(state, h, s, kind))
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->state, &state, state - 1, memory_order_acq_rel, memory_order_relaxed));
	if ((state & REFS) == 1)
		end(s, h);
	return 1;
}

int jc_handle_close(jc_handle h, enum jc_kind kind)
{
	slot *s = slot_of(h, kind);
	if (s == NULL)
		return 0;
	uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire);
	do {
		if (!usable(state, h, s, kind))
			return 0;
	} while (!atomic_compare_exchange_weak(&s->state, &state, state | CLOSED));
	drop(s, h);
	return 1;
}

uint64_t jc_handles_live(void)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < atomic_load(&nslots); i++)
		n += (atomic_load(&slot_at(i)->state) & REFS) != 0;
	return n;
}
