/* fork, from C: busy threads inside the library while children come and go. */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void *busy(void *p)
{
	jitcache_cache *c = (jitcache_cache *)p;
	while (!stop) {
		jitcache_key *k = make_key("busy");
		jitcache_blob *b;
		if (jitcache_get(c, k, &b) == JITCACHE_OK)
			jitcache_blob_release(b);
		jitcache_put(c, k, "x", 1, NULL, JITCACHE_REPLACE);
		jitcache_key_free(k);
	}
	return NULL;
}

static int child(jitcache_cache *c, jitcache_key *known, int depth)
{
	jitcache_blob *b;
	alarm(30 * (depth + 1)); /* it waits for those below it, which a busy machine emulates slowly */
	if (jitcache_get(c, known, &b) != JITCACHE_OK || !blob_is(b, "known"))
		return 2;
	char text[32];
	snprintf(text, sizeof text, "%d-%d", (int)getpid(), depth);
	jitcache_key *k = make_key(text);
	if (jitcache_put(c, k, text, strlen(text), NULL, 0) != JITCACHE_OK)
		return 3;
	if (jitcache_get(c, k, &b) != JITCACHE_OK || !blob_is(b, text))
		return 4;
	if (depth == 0)
		return 0;
	pid_t p = fork();
	if (p == 0)
		_exit(child(c, known, depth - 1));
	int s;
	waitpid(p, &s, 0);
	return s == 0 ? 0 : 10 + (WIFEXITED(s) ? WEXITSTATUS(s) : 99);
}

static void fork_many(const char *memory, int threads, int children, int depth)
{
	jitcache_cache *c = open_cache(memory);
	jitcache_key *known = make_key("known");
	pthread_t t[8];
	stop = 0;
	jitcache_put(c, known, "known", 5, NULL, 0);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, busy, c);
	for (int i = 0; i < children; i++) {
		int s;
		pid_t p = fork();
		if (p == 0)
			_exit(child(c, known, depth));
		waitpid(p, &s, 0);
		if (s != 0) {
			printf("child %d: status %x\n", i, s);
			check_bad = 1;
		}
	}
	stop = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	jitcache_key_free(known);
	jitcache_close(c);
}

static void children_of_an_idle_parent(void) { fork_many("0", 0, 10, 0); }
static void children_of_a_busy_parent(void) { fork_many("0", 4, 40, 0); }
static void children_of_a_busy_parent_with_memory(void) { fork_many("1Mi", 4, 40, 0); }
static void children_five_deep(void) { fork_many("0", 2, 4, 5); }

static void child_that_execs(void)
{
	jitcache_cache *c = open_cache("0");
	int s;
	pid_t p = fork();
	if (p == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	waitpid(p, &s, 0);
	CHECK(s == 0);
	jitcache_close(c);
}

static void child_with_every_descriptor_closed(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *known = make_key("known");
	int s;
	jitcache_put(c, known, "known", 5, NULL, 0);
	pid_t p = fork();
	if (p == 0) {
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		_exit(child(c, known, 0));
	}
	waitpid(p, &s, 0);
	CHECK(s == 0);
	jitcache_key_free(known);
	jitcache_close(c);
}

int main(int argc, char **argv)
{
	RUN(children_of_an_idle_parent);
	RUN(children_of_a_busy_parent);
	RUN(children_of_a_busy_parent_with_memory);
	RUN(children_five_deep);
	RUN(child_that_execs);
	RUN(child_with_every_descriptor_closed);
	DONE;
}
