/* memory.h: the in-process tier, a table from key to blob.
 *
 * It is C, and the library's front looks into it without calling Go: a memory
 * hit then costs less than one empty call from C into Go (49 ns), and works in
 * a forked child that never needs a runtime of its own.
 *
 * Least recently used entries go first, over the whole table. All functions may
 * be called from any thread.
 */
#ifndef JC_MEMORY_H
#define JC_MEMORY_H

#include "../blob/blob.h"

typedef struct jc_memory jc_memory;

/* What a hit may ask its caller to do, see jc_memory_get. */
#define JC_MEMORY_TOUCH 1 /* renew the recency of the entry's file */
#define JC_MEMORY_FLUSH 2 /* write the counters to the ledger */

/* How often it asks. An entry that is used only from memory must look used on disk
 * too; eviction needs no more than an hour's precision. A killed process loses the
 * counters of its last ten seconds. */
#define JC_MEMORY_TOUCH_NS (3600LL * 1000000000)
#define JC_MEMORY_FLUSH_NS (10LL * 1000000000)

/* jc_memory_new returns a tier that keeps up to cap bytes, NULL if there is no
 * memory. */
jc_memory *jc_memory_new(uint64_t cap);

/* jc_memory_free drops every blob and the tier. Nobody else may be using it. */
void jc_memory_free(jc_memory *m);

/* jc_memory_get returns the blob under id with a reference for the caller, or
 * NULL. *due gets the JC_MEMORY_ bits of what the caller is to do now; each is asked
 * of one caller only. */
jc_blob *jc_memory_get(jc_memory *m, const uint8_t id[32], int *due);

/* jc_memory_put keeps b under its id, and drops the blob that was there. A blob larger
 * than the cap is not kept. It is for a tier without a directory behind it. */
void jc_memory_put(jc_memory *m, jc_blob *b);

/* jc_memory_remove drops one entry; it returns whether there was one. */
int jc_memory_remove(jc_memory *m, const uint8_t id[32]);

/* jc_memory_clear drops the entries of a kind, or all if kind is NULL. */
void jc_memory_clear(jc_memory *m, const char *kind);

/* The order of memory and directory.
 *
 * An entry is in two places, and no lock covers both: a call that removes or replaces
 * the entry may overtake a lookup that has read the file and not yet put it into the
 * tier. With these rules this process sees its own changes, and in one order:
 *
 *  - A call that changes the directory says so before and after the change
 *    (jc_memory_begin and _end, jc_memory_begin_clear and _end_clear).
 *  - A call that reads the directory takes a ticket first, and passes it with what it
 *    has read (jc_memory_keep). The tier keeps that if no change of the key was under
 *    way when the ticket was taken, and none has begun since.
 *  - A change that makes an entry out of date drops it from the tier when it begins. A
 *    change that stores a result puts it into the tier when it ends, if no other change
 *    of the key has overlapped with it. Otherwise nobody knows which result the
 *    directory has, and the tier has none until a lookup reads the file again.
 *
 * So while a change is under way the tier has nothing under its key. At any other time
 * the tier has what the directory has, as far as this process has changed it. After a
 * call that removes or replaces an entry has returned, no lookup that begins later
 * returns the old entry. And two lookups, one after the other, never see two results in
 * the wrong order.
 *
 * This does not hold for changes by other processes, or through another tier of this
 * process: the tier may return an entry that they have removed or replaced.
 *
 * Changes are counted in words, each for a thousandth of all keys. If two keys share a
 * word by chance, a lookup may read the file once more. The ticket of a key is its word.
 * A jc_memory begins with the words, so that taking a ticket needs no call. */
#define JC_MEMORY_WORDS 1024

typedef struct jc_memory_words {
	/* The low JC_MEMORY_UNDER_WAY bits count the changes that are under way. The other
	 * bits count all that have begun or ended. */
	_Atomic uint64_t at[JC_MEMORY_WORDS];
} jc_memory_words;
#define JC_MEMORY_UNDER_WAY 20

/* jc_memory_word returns the number of a key's word. */
static inline unsigned jc_memory_word(const uint8_t id[32]) { return (id[0] | (unsigned)id[1] << 8) % JC_MEMORY_WORDS; }

static inline uint64_t jc_memory_ticket(jc_memory *m, const uint8_t id[32])
{
	return atomic_load(&((jc_memory_words *)m)->at[jc_memory_word(id)]);
}

/* jc_memory_keep keeps b, which was read from the directory after the ticket was
 * taken, unless its key has changed since. */
void jc_memory_keep(jc_memory *m, jc_blob *b, uint64_t ticket);

typedef struct jc_memory_change {
	uint64_t word; /* the key's word when the change began */
	int old;       /* the change makes the present entry out of date */
	int dropped;   /* the tier had that entry, and has dropped it */
} jc_memory_change;

/* jc_memory_begin is called before an entry is put, replaced or removed. old is 0 for
 * a put that keeps an existing entry. jc_memory_end must follow, with the result. */
jc_memory_change jc_memory_begin(jc_memory *m, const uint8_t id[32], int old);

/* jc_memory_end is called after the change. If b is not NULL, the tier keeps it: it must
 * be the entry that the directory has now, unless the directory has none. changed says
 * whether the directory has changed. */
void jc_memory_end(jc_memory *m, const uint8_t id[32], jc_memory_change change, int changed, jc_blob *b);

/* jc_memory_begin_clear and jc_memory_end_clear are the same for all entries of a
 * kind, or for all entries if kind is NULL. */
void jc_memory_begin_clear(jc_memory *m, const char *kind);
void jc_memory_end_clear(jc_memory *m);

/* jc_memory_size returns how many bytes and entries are kept. */
void jc_memory_size(jc_memory *m, uint64_t *bytes, uint64_t *count);

/* jc_memory_epoch returns the address of a number that rises whenever an entry leaves
 * the tier or is replaced, and at the end of a change that makes an entry out of date. A
 * caller may keep using what it got for as long as the number does not change. */
const _Atomic uint64_t *jc_memory_epoch(jc_memory *m);

/* Hits since the last drain, by kind. The last kind counts those for which the table
 * has no room. */
#define JC_MEMORY_KINDS 16
typedef struct jc_memory_hits {
	char kind[17];
	uint64_t hits;
	uint64_t saved; /* nanoseconds of compiling */
} jc_memory_hits;

/* jc_memory_drain moves the counts to hits, up to JC_MEMORY_KINDS of them. It returns
 * how many it has written. */
int jc_memory_drain(jc_memory *m, jc_memory_hits hits[JC_MEMORY_KINDS]);

/* jc_memory_counted returns whether there are hits to drain. */
int jc_memory_counted(jc_memory *m);

/* jc_memory_used counts n hits that a caller has served from a blob that it kept. It
 * returns whether the tier still has the entry; due is as in jc_memory_get. */
int jc_memory_used(jc_memory *m, const uint8_t id[32], uint64_t n, int *due);

/* jc_memory_count counts n hits on an entry that the tier has no longer. kind has up
 * to 16 bytes, padded with NUL. */
void jc_memory_count(jc_memory *m, const char *kind, uint64_t n);

/* Around fork: prepare takes every lock, between jc_rank_fork_begin and _end (mutex.h).
 * parent gives them back. child makes them new and forgets the hits, which the parent
 * reports. */
void jc_memory_fork_prepare(jc_memory *m);
void jc_memory_fork_parent(jc_memory *m);
void jc_memory_fork_child(jc_memory *m);

#endif
