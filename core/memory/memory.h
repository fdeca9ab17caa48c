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

/* What a hit may ask of its caller, see jc_memory_get. */
#define JC_MEMORY_TOUCH 1 /* the entry's file wants its recency renewed */
#define JC_MEMORY_FLUSH 2 /* the counters want to be written to the ledger */

/* How often: an entry that is used only from memory must look used on disk
 * too, and an hour is as exact as eviction needs; counters that a killed
 * process loses are those of its last ten seconds. */
#define JC_MEMORY_TOUCH_NS (3600LL * 1000000000)
#define JC_MEMORY_FLUSH_NS (10LL * 1000000000)

/* jc_memory_new returns a tier that keeps up to cap bytes, NULL if there is no
 * memory. */
jc_memory *jc_memory_new(uint64_t cap);

/* jc_memory_free drops every blob and the tier. Nobody else may be using it. */
void jc_memory_free(jc_memory *m);

/* jc_memory_get returns the blob under id with a reference for the caller, or
 * NULL. due gets the JC_MEMORY_ bits of what ought to be done now; each is
 * asked of one caller only. */
jc_blob *jc_memory_get(jc_memory *m, const uint8_t id[32], int *due);

/* jc_memory_put keeps b under its id, replacing what was there. A blob larger
 * than the cap is not kept. */
void jc_memory_put(jc_memory *m, jc_blob *b);

/* jc_memory_remove drops one entry; it returns whether there was one. */
int jc_memory_remove(jc_memory *m, const uint8_t id[32]);

/* jc_memory_clear drops the entries of a kind, or all if kind is NULL. */
void jc_memory_clear(jc_memory *m, const char *kind);

/* jc_memory_size returns how many bytes and entries are kept. */
void jc_memory_size(jc_memory *m, uint64_t *bytes, uint64_t *count);

/* jc_memory_epoch rises whenever an entry leaves or is replaced, so that a
 * caller can keep what it got for as long as the epoch stands. */
const _Atomic uint64_t *jc_memory_epoch(jc_memory *m);

/* Hits since the last drain, by kind. The last kind takes those that the table
 * has no room for. */
#define JC_MEMORY_KINDS 16
typedef struct jc_memory_hits {
	char kind[17];
	uint64_t hits;
	uint64_t saved; /* nanoseconds of compiling */
} jc_memory_hits;

/* jc_memory_drain takes the hits: up to JC_MEMORY_KINDS of them into hits. It
 * returns how many it wrote. */
int jc_memory_drain(jc_memory *m, jc_memory_hits hits[JC_MEMORY_KINDS]);

/* jc_memory_counted returns whether there are hits to drain. */
int jc_memory_counted(jc_memory *m);

/* jc_memory_used counts n hits that a caller served from a blob it kept. It
 * returns whether the tier still has the entry; due as jc_memory_get. */
int jc_memory_used(jc_memory *m, const uint8_t id[32], uint64_t n, int *due);

/* jc_memory_count counts n hits on an entry that the tier does not have any
 * more. kind is up to 16 bytes, padded with NUL. */
void jc_memory_count(jc_memory *m, const char *kind, uint64_t n);

/* Around fork: prepare takes every lock, between jc_rank_fork_begin and _end
 * (mutex.h), parent gives them back; child makes them new and forgets hits, which are the parent's to report. */
void jc_memory_fork_prepare(jc_memory *m);
void jc_memory_fork_parent(jc_memory *m);
void jc_memory_fork_child(jc_memory *m);

#endif
