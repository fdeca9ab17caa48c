/* bench.h: the C side of the benchmarks.
 *
 * One program that reads commands from standard input, a line each, and answers
 * each with a line: nanoseconds, or what the command says. bench.py has several
 * of them and gives them turns, so that what is compared runs side by side.
 */
#ifndef BENCH_H
#define BENCH_H

#include <jitcache.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* begin and end read the clock around what is measured. If BENCH_MARK is set
 * each also makes a system call that strace shows, named after the command. */
uint64_t begin(const char *what);
uint64_t end(uint64_t begun);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* must ends the program unless a call has returned what it should. */
static inline void must(int32_t status, int32_t want, const char *what)
{
	if (__builtin_expect(status != want, 0))
		die("%s: %s (%s, %s)", what, jitcache_status_name(status), jitcache_reason_name(jitcache_last_miss()),
			jitcache_last_error());
}

/* A cache that is open, and the keys that commands take in turn. */
typedef struct corpus {
	jitcache_cache *cache;
	char directory[1024];
	size_t count;
	jitcache_key **keys;   /* of entries */
	char **paths;          /* of their files */
	jitcache_key **absent; /* of nothing */
	char **absent_paths;
} corpus;

/* corpus_at returns the corpus in a place, "0" to "7". */
corpus *corpus_at(const char *place);

/* new_key makes a key of one component; prefix and n tell it from others. */
jitcache_key *new_key(const char *prefix, uint64_t n, const char *name);

/* payload returns bytes that no file system finds easy, the first 8 of them n. */
const unsigned char *payload(size_t size, uint64_t n);

/* number reads an argument. */
uint64_t number(const char *text);

/* The commands: argv[0] is the command itself. */
typedef void command(int argc, char **argv);
command run_open, run_corpus, run_stats, run_close;      /* corpus.c */
command run_get, run_into, run_miss, run_warm;           /* hits.c */
command run_read, run_read_absent, run_write, run_empty; /* floors.c */
command run_get_behind;                                  /* floors.c */
command run_tails, run_alone;                            /* tails.c */
command run_put, run_lease;                              /* puts.c */
command run_keys;                                        /* keys.c */
command run_opens;                                       /* opens.c */
command run_lease_pair, run_flock_pair;                  /* leases.c */
command run_hold, run_commit_held, run_wait, run_wake;   /* leases.c */

#endif
