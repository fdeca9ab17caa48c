/* floors.c: the same work by hand. What the library's figures are held against:
 * the system calls that cannot be left out, and a call into Go that does
 * nothing. */
#include "bench.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void print(uint64_t ns) { printf("%llu\n", (unsigned long long)ns); }

/* read: open, fstat, read, close of entries' files, into one buffer. */
void run_read(int argc, char **argv)
{
	(void)argc;
	static unsigned char buffer[2 << 20];
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0, at = 0; i < n; i++) {
		struct stat st;
		int fd = open(c->paths[at], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) != 0 || (size_t)st.st_size > sizeof buffer)
			die("%s: %s", c->paths[at], strerror(errno));
		if (read(fd, buffer, (size_t)st.st_size) != st.st_size)
			die("%s: read: %s", c->paths[at], strerror(errno));
		close(fd);
		at = at + 1 < c->count ? at + 1 : 0;
	}
	print(end(begun));
}

/* read_absent: open of files that are not there. */
void run_read_absent(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]);
	size_t n = number(argv[2]);
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0, at = 0; i < n; i++) {
		if (open(c->absent_paths[at], O_RDONLY | O_CLOEXEC) >= 0)
			die("%s: is there", c->absent_paths[at]);
		at = at + 1 < c->count ? at + 1 : 0;
	}
	print(end(begun));
}

/* get_behind: what a lookup in a layer cannot do without: in one place an open of a file
 * that is not there, then a hit in another. */
void run_get_behind(int argc, char **argv)
{
	(void)argc;
	corpus *c = corpus_at(argv[1]), *first = corpus_at(argv[2]);
	size_t n = number(argv[3]);
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0, at = 0; i < n; i++) {
		jitcache_blob *b;
		if (open(first->paths[at], O_RDONLY | O_CLOEXEC) >= 0)
			die("%s: is there", first->paths[at]);
		must(jitcache_get(c->cache, c->keys[at], &b), JITCACHE_OK, "get");
		jitcache_blob_release(b);
		at = at + 1 < c->count ? at + 1 : 0;
	}
	print(end(begun));
}

/* write: new files of SIZE + EXTRA bytes, written in tmp and renamed into one of
 * the 256 folders of entries. Prints the sum and the longest. */
void run_write(int argc, char **argv)
{
	(void)argc;
	static uint64_t serial;
	const char *directory = argv[1];
	size_t n = number(argv[2]), size = number(argv[3]), extra = number(argv[4]);
	char *trailer = calloc(1, extra + 1);
	char (*to)[1200] = calloc(n, sizeof *to);
	for (size_t i = 0; i < n; i++) {
		/* Names as the entries have: 64 digits that look random. */
		uint64_t x = (serial + i + 1) * 0x9e3779b97f4a7c15u;
		snprintf(to[i], sizeof *to, "%s/entries/%02x/%014llx%016llx%016llx%016llx.jce", directory,
			(unsigned)(x >> 56), (unsigned long long)(x & 0xffffffffffffff), (unsigned long long)(x * 3),
			(unsigned long long)(x * 5), (unsigned long long)(x * 7));
	}
	uint64_t sum = 0, worst = 0;
	for (size_t i = 0; i < n; i++) {
		char from[1200];
		const unsigned char *data = payload(size, serial);
		uint64_t begun = begin(argv[0]);
		snprintf(from, sizeof from, "%s/tmp/floor.%llu", directory, (unsigned long long)serial++);
		int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		struct iovec parts[] = {{(void *)data, size}, {trailer, extra}};
		if (fd < 0 || writev(fd, parts, 2) != (ssize_t)(size + extra) || close(fd) != 0 ||
			rename(from, to[i]) != 0)
			die("%s: %s", from, strerror(errno));
		uint64_t took = end(begun);
		sum += took;
		worst = took > worst ? took : worst;
	}
	free(to);
	free(trailer);
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)worst);
}

/* empty: a call into Go that takes three pointers and does nothing. */
void run_empty(int argc, char **argv)
{
	(void)argc;
	static int32_t (*call)(void *, void *, void *);
	size_t n = number(argv[2]);
	if (call == NULL) {
		void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		if (lib == NULL)
			die("%s", dlerror());
		call = (int32_t (*)(void *, void *, void *))dlsym(lib, "empty_call");
		if (call == NULL)
			die("%s", dlerror());
	}
	uint64_t begun = begin(argv[0]);
	for (size_t i = 0; i < n; i++)
		must(call(NULL, NULL, NULL), 0, "empty_call");
	print(end(begun));
}
