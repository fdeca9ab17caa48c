/* A forked child whose first call loads a copy of the library while other threads
 * of it fork, or hold locks of the loader. */
#define _GNU_SOURCE
#include "forking.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

static jitcache_cache *cache;
static jitcache_key *known;

static void set_up(void)
{
	cache = open_cache("0");
	known = make_key("known");
	CHECK(jitcache_put(cache, known, "known", 5, NULL, 0) == JITCACHE_OK);
}

static void tear_down(void)
{
	jitcache_key_free(known);
	CHECK(jitcache_close(cache) == JITCACHE_OK);
}

static int look_up(void)
{
	jitcache_blob *b;
	return jitcache_get(cache, known, &b) == JITCACHE_OK && blob_is(b, "known") ? 0 : 2;
}

/* ---- from 2.28 to 2.35 glibc has a lock that a fork holds while the handlers of
 * prepare run, and that registering a handler takes. Here it is in any glibc: the
 * handler that is registered last runs first. */

typedef void handler(void);
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static int as_in_older_glibc;

static void before_fork(void) { pthread_mutex_lock(&registering); }
static void in_parent(void) { pthread_mutex_unlock(&registering); }
static void in_child_of_it(void) { pthread_mutex_init(&registering, NULL); }

int __register_atfork(handler *prepare, handler *parent, handler *child, void *library);

int __register_atfork(handler *prepare, handler *parent, handler *child, void *library)
{
	int (*next)(handler *, handler *, handler *, void *);
	*(void **)&next = dlsym(RTLD_NEXT, "__register_atfork");
	if (as_in_older_glibc)
		pthread_mutex_lock(&registering);
	int result = next(prepare, parent, child, library);
	if (as_in_older_glibc)
		pthread_mutex_unlock(&registering);
	return result;
}

static void *fork_again_and_again(void *p)
{
	(void)p;
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

static int look_up_beside_fork(void *p)
{
	pthread_t t;
	(void)p;
	pthread_create(&t, NULL, fork_again_and_again, NULL);
	usleep(1000);
	return look_up();
}

/* jitcache:control JC_COPY_WATCHES */
static void first_call_beside_fork_ends_with_an_older_glibc(void)
{
	set_up();
	pthread_atfork(before_fork, in_parent, in_child_of_it);
	as_in_older_glibc = 1;
	for (int i = 0; i < forking_children && !check_bad; i++)
		CHECK(in_child(look_up_beside_fork, NULL));
	as_in_older_glibc = 0;
	tear_down();
}

/* ---- a thread that holds a lock of the loader's, as one does in a library's
 * constructor, and waits for the one that loads the copy */

static volatile int holds;

static void *look_up_in_another_thread(void *p)
{
	while (!holds)
		usleep(100);
	*(int *)p = look_up();
	return NULL;
}

static int look_up_here(struct dl_phdr_info *info, size_t size, void *p)
{
	jitcache_blob *b;
	(void)info, (void)size;
	holds = 1;
	usleep(100000); /* the other thread has begun by then */
	*(int32_t *)p = jitcache_get(cache, known, &b);
	return 1;
}

static int look_up_in_the_loader(void *p)
{
	pthread_t t;
	int step = 9;
	int32_t status = JITCACHE_OK;
	(void)p;
	pthread_create(&t, NULL, look_up_in_another_thread, &step);
	dl_iterate_phdr(look_up_here, &status);
	if (status != JITCACHE_ERR_FORK || strstr(jitcache_last_error(), "another thread") == NULL)
		return 3;
	pthread_join(t, NULL);
	return step != 0 ? step : look_up();
}

static void first_call_beside_a_thread_in_the_loader_ends(void)
{
	set_up();
	CHECK(in_child(look_up_in_the_loader, NULL));
	tear_down();
}

int main(int argc, char **argv)
{
	forking_arguments(argc, argv);
	RUN(first_call_beside_fork_ends_with_an_older_glibc);
	RUN(first_call_beside_a_thread_in_the_loader_ends);
	printf("figure forks_fork_loads %d forks\n", forking_count);
	DONE;
}
