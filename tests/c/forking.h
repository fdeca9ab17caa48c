/* forking.h: children that must do something and must not hang. */
#ifndef FORKING_H
#define FORKING_H

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How many children each test has; argv[2]. */
static int forking_children = 20;

/* A child that takes so many seconds hangs; argv[3]. A first call takes
 * milliseconds. */
static int forking_limit = 30;

/* How many children there were in all, grandchildren included or not. */
static int forking_count;

static inline void forking_arguments(int argc, char **argv)
{
	if (argc > 2 && atoi(argv[2]) > 0)
		forking_children = atoi(argv[2]);
	if (argc > 3 && atoi(argv[3]) > 0)
		forking_limit = atoi(argv[3]);
}

/* wait_for returns a child's status, -1 if it hangs. It is killed then: it may
 * hang with every signal blocked. */
static inline int wait_for(pid_t pid)
{
	int status;
	struct timespec start, now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(200);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < forking_limit);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* in_child runs body in a forked child and says whether it returned 0. */
static inline int in_child(int (*body)(void *), void *p)
{
	fflush(stdout);
	forking_count++;
	pid_t pid = fork();
	if (pid == 0)
		_exit(body(p));
	int s = wait_for(pid);
	if (s == -1)
		printf("child %d hangs\n", forking_count);
	else if (WIFSIGNALED(s))
		printf("child %d: %s\n", forking_count, strsignal(WTERMSIG(s)));
	else if (s != 0)
		printf("child %d: step %d\n", forking_count, WEXITSTATUS(s));
	return s == 0;
}

#endif
