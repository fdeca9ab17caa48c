/* A child in which no copy of the library can be made gets JITCACHE_ERR_FORK from
 * every call that needs one, at once, and goes on. */
#define _GNU_SOURCE
#include "forking.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static jitcache_cache *cache;
static jitcache_key *known, *absent;

/* calls_fail returns the step at which a call did not fail as it must. */
static int calls_fail(void)
{
	jitcache_blob *b;
	jitcache_cache *other;
	jitcache_lease *l;
	jitcache_key *fresh = make_key("fresh");
	char hex[65];
	/* What is not there is not there: no runtime is needed to say so. */
	if (jitcache_get(cache, absent, &b) != JITCACHE_MISS || jitcache_last_miss() != JITCACHE_REASON_ABSENT)
		return 9;
	if (jitcache_get(cache, known, &b) != JITCACHE_ERR_FORK || b != NULL)
		return 2;
	if (jitcache_last_miss() != JITCACHE_REASON_FORK || strstr(jitcache_last_error(), "forked") == NULL)
		return 3;
	if (jitcache_put(cache, known, "x", 1, NULL, 0) != JITCACHE_ERR_FORK)
		return 4;
	if (jitcache_acquire(cache, known, -1, &b, &l) != JITCACHE_ERR_FORK || b != NULL || l != NULL)
		return 5;
	if (jitcache_open(NULL, &other) != JITCACHE_ERR_FORK || other != NULL)
		return 6;
	if (jitcache_key_hex(fresh, hex) != JITCACHE_ERR_FORK)
		return 7;
	jitcache_key_free(fresh);
	jitcache_key_free(known);
	return jitcache_close(cache) == JITCACHE_OK ? 0 : 8;
}

static int refuse_memfd(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int without_files(void *p)
{
	(void)p;
	if (!refuse_memfd())
		return 20;
	setenv("TMPDIR", "/proc/nowhere", 1);
	return calls_fail();
}

/* SIGXFSZ, which a write beyond the limit is answered with, ends the process. */
static int without_file_size(void *p)
{
	const struct rlimit none = {0, 0};
	(void)p;
	setrlimit(RLIMIT_FSIZE, &none);
	return calls_fail();
}

static int without_address_space(void *p)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld", &pages) != 1)
		return 21;
	fclose(f);
	rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (200 << 20);
	const struct rlimit tight = {most, most};
	setrlimit(RLIMIT_AS, &tight);
	(void)p;
	return calls_fail();
}

static void without(int (*something)(void *))
{
	cache = open_cache("0");
	char frozen[65];
	known = make_key("known");
	absent = make_key("absent");
	CHECK(jitcache_key_hex(absent, frozen) == JITCACHE_OK);
	CHECK(jitcache_put(cache, known, "known", 5, NULL, 0) == JITCACHE_OK);
	for (int i = 0; i < 3; i++)
		CHECK(in_child(something, NULL));
	jitcache_key_free(known);
	jitcache_key_free(absent);
	CHECK(jitcache_close(cache) == JITCACHE_OK);
}

/* jitcache:control JC_NO_COPY */
static void child_without_memfd_and_temp_files_is_told(void) { without(without_files); }
/* jitcache:control JC_NO_LIMITS */
static void child_without_file_size_is_told(void) { without(without_file_size); }
/* jitcache:control JC_NO_LIMITS */
static void child_without_address_space_is_told(void) { without(without_address_space); }

int main(int argc, char **argv)
{
	forking_arguments(argc, argv);
	RUN(child_without_memfd_and_temp_files_is_told);
	RUN(child_without_file_size_is_told);
	RUN(child_without_address_space_is_told);
	printf("figure forks_fork_refused %d forks\n", forking_count);
	DONE;
}
