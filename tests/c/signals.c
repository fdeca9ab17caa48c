/* The host's signals stay the host's. The library is loaded by dlopen, so that
 * before and after can be compared; argv[2] is its path. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jitcache.h>

static int run, failed, bad;

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			bad = 1; \
		} \
	} while (0)

static volatile int urgent;

static void on_urgent(int sig)
{
	(void)sig;
	urgent++;
}

static void handler(int sig) { (void)sig; }

static struct sigaction before[NSIG];
static sigset_t mask_before;

static void remember(void)
{
	struct sigaction sa;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = handler; /* without SA_ONSTACK */
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &sa, NULL);
	sa.sa_handler = on_urgent;
	sigaction(SIGURG, &sa, NULL);
	sa.sa_handler = handler;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGPROF, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
	sigaction(SIGCHLD, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
}

/* jitcache:control JC_NO_SIGNALS */
static void dispositions_are_as_they_were(void)
{
	for (int i = 1; i < NSIG; i++) {
		struct sigaction now;
		if (i == SIGSEGV || i == SIGBUS || i == SIGFPE || sigaction(i, NULL, &now) != 0)
			continue;
		if (now.sa_handler != before[i].sa_handler || now.sa_flags != before[i].sa_flags) {
			printf("signal %d: handler %p flags %x, was %p %x\n", i, (void *)(uintptr_t)now.sa_handler,
				now.sa_flags, (void *)(uintptr_t)before[i].sa_handler, before[i].sa_flags);
			bad = 1;
		}
	}
}

static void mask_is_as_it_was(void)
{
	sigset_t now;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int i = 1; i < NSIG; i++)
		CHECK(sigismember(&now, i) == sigismember(&mask_before, i));
}

/* The threads of the runtime block every signal that a host sends around. 16 is
 * SIGSTKFLT and 34 SIGRTMIN: with SIGCHLD and SIGPROF those that Go would
 * unblock in each of its threads. */
/* jitcache:control JC_NO_SIGNALS */
/* jitcache:control go_runtime */
static void threads_take_no_signals(void)
{
	DIR *d = opendir("/proc/self/task");
	int others = 0;
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		char path[300], line[256];
		unsigned long long blocked = 0;
		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		others++;
		snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
		FILE *f = fopen(path, "r");
		while (f != NULL && fgets(line, sizeof line, f) != NULL)
			sscanf(line, "SigBlk: %llx", &blocked);
		if (f != NULL)
			fclose(f);
		static const int host[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
			SIGCONT, SIGURG, SIGTSTP, SIGVTALRM, SIGWINCH, SIGIO, 16, SIGCHLD, SIGPROF, 34};
		for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
			if ((blocked >> (host[i] - 1) & 1) == 0) {
				printf("thread %s does not block signal %d\n", e->d_name, host[i]);
				bad = 1;
			}
	}
	closedir(d);
	CHECK(others > 0 && others <= 12);
}

/* The runtime has been hashing and reading for a while, on several threads. */
/* jitcache:control preempts */
static void no_preemption_signal_is_sent(void) { CHECK(urgent == 0); }

int main(int argc, char **argv)
{
	remember();
	void *lib = dlopen(argv[2], RTLD_NOW);
	if (argc < 3 || lib == NULL) {
		printf("%s\n1 run, 1 failed\n", dlerror());
		return 1;
	}
#define FIND(name) \
	__typeof__(&jitcache_##name) p_##name = (__typeof__(&jitcache_##name))(uintptr_t)dlsym(lib, "jitcache_" #name)
	FIND(options_new);
	FIND(options_set);
	FIND(open);
	FIND(key_new);
	FIND(key_add);
	FIND(key_free);
	FIND(put);
	FIND(get);
	FIND(blob_release);
	FIND(verify);
	jitcache_options *o;
	jitcache_cache *c;
	char dir[4096];
	snprintf(dir, sizeof dir, "%s/signals", argv[1]);
	p_options_new(&o);
	p_options_set(o, "directory", dir);
	p_options_set(o, "memory_size", "0");
	CHECK(p_open(o, &c) == JITCACHE_OK);
	static char data[1 << 20];
	for (int i = 0; i < 300; i++) {
		jitcache_key *k;
		jitcache_blob *b;
		p_key_new(&k);
		p_key_add(k, "n", &i, sizeof i);
		p_key_add(k, "source", data, sizeof data); /* a long loop of hashing */
		CHECK(p_put(c, k, data, sizeof data / 4, NULL, 0) == JITCACHE_OK);
		CHECK(p_get(c, k, &b) == JITCACHE_OK);
		p_blob_release(b);
		p_key_free(k);
	}
	CHECK(p_verify(c, NULL) == JITCACHE_OK);
	failed = bad;
	run = 1;
#define RUN(test) \
	do { \
		bad = 0; \
		test(); \
		run++; \
		failed += bad; \
		if (bad) \
			printf("FAILED %s\n", #test); \
	} while (0)
	RUN(dispositions_are_as_they_were);
	RUN(mask_is_as_it_was);
	RUN(threads_take_no_signals);
	RUN(no_preemption_signal_is_sent);
	printf("%d run, %d failed\n", run, failed);
	return failed != 0;
}
