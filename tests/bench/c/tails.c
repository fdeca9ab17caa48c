/* tails.c: how long a hit takes while other threads are at it. The Go scheduler
 * and locks show here, and nowhere in an average of one thread. */
#include "bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_THREADS = 64, FINE = 1 << 16, COARSE = 1 << 16 };

/* Times by nanosecond up to 65 us, by microsecond up to 65 ms. */
typedef struct histogram {
	uint64_t total;
	uint32_t fine[FINE], coarse[COARSE];
} histogram;

static void note(histogram *h, uint64_t ns)
{
	h->total++;
	if (ns < FINE)
		h->fine[ns]++;
	else
		h->coarse[ns / 1000 < COARSE ? ns / 1000 : COARSE - 1]++;
}

static uint64_t quantile(const histogram *h, double q)
{
	uint64_t below = (uint64_t)((double)h->total * q), seen = 0;
	for (size_t i = 0; i < FINE; i++)
		if ((seen += h->fine[i]) > below)
			return i;
	for (size_t i = 0; i < COARSE; i++)
		if ((seen += h->coarse[i]) > below)
			return i * 1000;
	return COARSE * 1000;
}

static void print(const histogram *h)
{
	printf("%llu %llu %llu %llu\n", (unsigned long long)quantile(h, 0.5), (unsigned long long)quantile(h, 0.99),
		(unsigned long long)quantile(h, 0.999), (unsigned long long)h->total);
}

/* once looks one entry up, through the library or by hand. */
typedef void once(corpus *c, size_t at);

static void get(corpus *c, size_t at)
{
	jitcache_blob *b;
	must(jitcache_get(c->cache, c->keys[at], &b), JITCACHE_OK, "get");
	jitcache_blob_release(b);
}

static void read_file(corpus *c, size_t at)
{
	static _Thread_local char buffer[1 << 17];
	struct stat st;
	int fd = open(c->paths[at], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0 || read(fd, buffer, sizeof buffer) != st.st_size)
		die("%s: cannot be read", c->paths[at]);
	close(fd);
}

static once *once_of(const char *how) { return strcmp(how, "get") == 0 ? get : read_file; }

typedef struct reader {
	corpus *c;
	once *look;
	size_t first;
	histogram *times; /* NULL: only reads */
	uint64_t hits;
} reader;

static atomic_int stop;

static uint64_t timed(once *look, corpus *c, size_t at)
{
	uint64_t begun = now();
	look(c, at);
	return now() - begun;
}

static void *read_on(void *arg)
{
	reader *r = arg;
	size_t at = r->first;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t took = timed(r->look, r->c, at);
		r->hits++;
		if (r->times != NULL)
			note(r->times, took);
		at = at + 1 < r->c->count ? at + 1 : 0;
	}
	return NULL;
}

static void start(pthread_t *threads, reader *readers, corpus *c, once *look, size_t n, int time_them)
{
	if (n > MAX_THREADS)
		die("%zu threads: want at most %d", n, MAX_THREADS);
	atomic_store(&stop, 0);
	for (size_t i = 0; i < n; i++) {
		readers[i] = (reader){c, look, i * c->count / n, time_them ? calloc(1, sizeof(histogram)) : NULL, 0};
		if (pthread_create(&threads[i], NULL, read_on, &readers[i]) != 0)
			die("no thread");
	}
}

static uint64_t finish(pthread_t *threads, const reader *readers, size_t n)
{
	uint64_t hits = 0;
	atomic_store(&stop, 1);
	for (size_t i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		hits += readers[i].hits;
	}
	return hits;
}

/* tails: all threads look up as fast as they can. Prints median, p99, p99.9 and the
 * number of hits. */
void run_tails(int argc, char **argv)
{
	(void)argc;
	static histogram all;
	pthread_t threads[MAX_THREADS];
	reader readers[MAX_THREADS];
	size_t n = number(argv[2]);
	memset(&all, 0, sizeof all);
	start(threads, readers, corpus_at(argv[1]), once_of(argv[4]), n, 1);
	usleep((useconds_t)number(argv[3]) * 1000);
	finish(threads, readers, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < FINE; k++)
			all.fine[k] += readers[i].times->fine[k];
		for (size_t k = 0; k < COARSE; k++)
			all.coarse[k] += readers[i].times->coarse[k];
		all.total += readers[i].times->total;
		free(readers[i].times);
	}
	print(&all);
}

/* alone: one thread looks up now and then while others do so all the time. Prints its
 * times and the number of all hits. */
void run_alone(int argc, char **argv)
{
	(void)argc;
	static histogram own;
	pthread_t threads[MAX_THREADS];
	reader readers[MAX_THREADS];
	corpus *c = corpus_at(argv[1]);
	once *look = once_of(argv[4]);
	size_t n = number(argv[2]), samples = number(argv[3]);
	memset(&own, 0, sizeof own);
	start(threads, readers, c, look, n, 0);
	for (size_t i = 0; i < samples; i++) {
		usleep(2000);
		note(&own, timed(look, c, i % c->count));
	}
	uint64_t hits = finish(threads, readers, n) + samples;
	printf("%llu %llu %llu %llu\n", (unsigned long long)quantile(&own, 0.5),
		(unsigned long long)quantile(&own, 0.99), (unsigned long long)quantile(&own, 0.999),
		(unsigned long long)hits);
}
