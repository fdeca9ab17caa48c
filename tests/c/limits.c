/* Limits of the process that cost a result its place, and nobody his process. */
#include "check.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;

static void limit_file_size(rlim_t size)
{
	struct rlimit now;
	getrlimit(RLIMIT_FSIZE, &now);
	now.rlim_cur = size < now.rlim_max ? size : now.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
}

/* The kernel answers a write beyond ulimit -f with SIGXFSZ, which ends the
 * process. */
/* jitcache:control nolimit */
static void put_beyond_the_limit_of_file_size_is_not_stored(void)
{
	static const char large[100000];
	jitcache_cache *c = open_cache("0");
	jitcache_key *known = make_key("known"), *k = make_key("large");
	jitcache_blob *b;
	CHECK(jitcache_put(c, known, "known", 5, NULL, 0) == JITCACHE_OK);
	for (rlim_t size = 50000; size > 0; size /= 10) {
		limit_file_size(size);
		CHECK(jitcache_put(c, k, large, sizeof large, NULL, 0) == JITCACHE_NOT_STORED);
		CHECK(jitcache_last_miss() == JITCACHE_REASON_NO_SPACE);
		CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS);
		CHECK(jitcache_get(c, known, &b) == JITCACHE_OK && blob_is(b, "known"));
		CHECK(jitcache_flush(c) == JITCACHE_OK);
	}
	limit_file_size(RLIM_INFINITY);
	CHECK(jitcache_put(c, k, large, sizeof large, NULL, 0) == JITCACHE_OK);
	jitcache_key_free(known);
	jitcache_key_free(k);
	CHECK(jitcache_close(c) == JITCACHE_OK);
}

/* status_with_address_space starts a program that opens a cache. */
static int status_with_address_space(rlim_t size)
{
	const struct rlimit limit = {size, size};
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(9);
		setrlimit(RLIMIT_AS, &limit);
		execl(program, program, check_dir, "open", (char *)NULL);
		_exit(9);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

/* As the header says, for better or worse: nothing of the library's runs before
 * Go does. */
static void linked_program_without_address_space_ends(void)
{
	int status = status_with_address_space((rlim_t)500 << 20);
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 2);
	CHECK(status_with_address_space((rlim_t)3 << 30) == 0);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 2 && strcmp(argv[2], "open") == 0) {
		snprintf(check_dir, sizeof check_dir, "%s", argv[1]);
		return jitcache_close(open_cache("0")) != JITCACHE_OK;
	}
	RUN(put_beyond_the_limit_of_file_size_is_not_stored);
	RUN(linked_program_without_address_space_ends);
	DONE;
}
