// A process that exits in the middle of something: threads inside the library,
// handlers and destructors that use it after others have run. It exits with the
// status that it wants, at once. argv[2] is how often each is tried.
#include "check.h"

#include <atomic>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WANTED = 7, WRONG = 9, LIMIT = 20 };

static const char *program, *folder;
static int times = 20;

// ---- what the program does when it is started again with a name

static jitcache_cache *cache;
static jitcache_key *known, *leased;
static std::atomic<int> entered; // threads that are in the library for good

static void use_or_fail()
{
	jitcache_blob *b;
	if (jitcache_get(cache, known, &b) != JITCACHE_OK || !blob_is(b, "known") ||
		jitcache_put(cache, known, "known", 5, nullptr, JITCACHE_REPLACE) != JITCACHE_OK) {
		fprintf(stderr, "at exit: %s\n", jitcache_last_error());
		_exit(WRONG);
	}
}

// Made before the library is used for the first time, so it goes after what the
// library does at exit.
struct Owner {
	bool used = false;
	~Owner()
	{
		if (!used)
			return;
		use_or_fail();
		if (entered == 0 && jitcache_close(cache) != JITCACHE_OK)
			_exit(WRONG);
	}
};
static Owner owner;

static void set_up(const char *memory)
{
	snprintf(check_dir, sizeof check_dir, "%s/cache", folder);
	cache = open_cache(memory);
	known = make_key("known");
	leased = make_key("leased");
	if (jitcache_put(cache, known, "known", 5, nullptr, 0) != JITCACHE_OK)
		_exit(WRONG);
}

static void *look_up(void *)
{
	for (entered++;; use_or_fail())
		;
}

static void *wait_for_lease(void *)
{
	for (entered++;;) {
		jitcache_blob *b;
		jitcache_lease *l;
		jitcache_acquire(cache, leased, -1, &b, &l);
	}
}

static void start_threads()
{
	jitcache_blob *b;
	jitcache_lease *l;
	pthread_t t;
	jitcache_acquire(cache, leased, -1, &b, &l);
	for (int i = 0; i < 4; i++) {
		pthread_create(&t, nullptr, look_up, nullptr);
		pthread_create(&t, nullptr, wait_for_lease, nullptr);
	}
	while (entered < 8)
		usleep(100);
	usleep((unsigned)getpid() % 10 * 500);
}

// The last of a program's handlers: what others did at exit its threads see for a while.
static void linger() { usleep(20000); }

static int run_named(const char *name)
{
	atexit(linger);
	bool memory = strstr(name, "memory") != nullptr;
	if (strstr(name, "before") != nullptr)
		atexit(use_or_fail);
	set_up(memory ? "1Mi" : "0");
	if (strstr(name, "after") != nullptr)
		atexit(use_or_fail);
	if (strstr(name, "threads") != nullptr)
		start_threads();
	if (strstr(name, "destructor") != nullptr)
		owner.used = true;
	if (strstr(name, "child") != nullptr) {
		int status;
		pid_t pid = fork();
		if (pid == 0)
			exit(WANTED);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != WANTED)
			_exit(WRONG);
	}
	if (strstr(name, "return") != nullptr)
		return WANTED;
	exit(WANTED);
}

// ---- the tests

static void try_it(const char *name)
{
	for (int i = 0; i < times && !check_bad; i++) {
		int status = 0;
		time_t end = time(nullptr) + LIMIT;
		pid_t pid = fork();
		if (pid == 0) {
			execl(program, program, check_dir, "--named", name, (char *)nullptr);
			_exit(WRONG);
		}
		while (waitpid(pid, &status, WNOHANG) != pid) {
			usleep(500);
			if (time(nullptr) <= end)
				continue;
			printf("%s hangs\n", name);
			kill(pid, SIGKILL);
			end += LIMIT;
			check_bad = 1;
		}
		if (!WIFEXITED(status) || WEXITSTATUS(status) != WANTED) {
			printf("%s: status %x\n", name, status);
			check_bad = 1;
		}
	}
}

/* jitcache:control JC_TEARS_DOWN */
static void exit_with_threads_inside_ends_at_once()
{
	try_it("threads");
	try_it("threads memory");
	try_it("threads return");
}

/* jitcache:control JC_TEARS_DOWN */
static void exit_handlers_use_the_cache()
{
	try_it("before");
	try_it("after");
	try_it("before after memory");
	try_it("before after threads");
}

/* jitcache:control JC_TEARS_DOWN */
static void static_destructor_uses_the_cache()
{
	try_it("destructor");
	try_it("destructor memory return");
	try_it("destructor threads");
}

/* jitcache:control JC_TEARS_DOWN */
static void forked_child_exits()
{
	try_it("child");
	try_it("child threads memory");
	try_it("child destructor before after");
}

int main(int argc, char **argv)
{
	program = argv[0];
	folder = argv[1];
	if (argc > 3 && strcmp(argv[2], "--named") == 0)
		return run_named(argv[3]);
	if (argc > 2 && atoi(argv[2]) > 0)
		times = atoi(argv[2]);
	RUN(exit_with_threads_inside_ends_at_once);
	RUN(exit_handlers_use_the_cache);
	RUN(static_destructor_uses_the_cache);
	RUN(forked_child_exits);
	DONE;
}
