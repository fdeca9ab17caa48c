/* Scenes about processes that are killed while they fork. Words behind the scene's name mark them
 * for who counts. The folder has f. */
#include "scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void wait_for(pid_t child)
{
	int status;
	must(child > 0 && waitpid(child, &status, 0) == child);
}

/* killed_as_they_fork: processes that do nothing else are killed, sooner or later. */
static void killed_as_they_fork(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t parent = fork();
		for (int k = 0; parent == 0 && k < 200; k++) {
			if (fork() == 0)
				_exit(0);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
		if (parent == 0)
			_exit(0);
		usleep(2000 + i * 37);
		kill(parent, SIGKILL);
		wait_for(parent);
	}
}

/* left has a process that forks when it is told to by a signal, whose id it prints, and whose
 * child reads f. It ends when that has. */
static void left(void)
{
	int alive[2], said;
	sigset_t told;
	char byte;
	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	/* A signal that is waited for stops nobody who is traced. */
	must(sigprocmask(SIG_BLOCK, &told, NULL) == 0 && pipe(alive) == 0);
	pid_t parent = fork();
	if (parent == 0) {
		close(alive[0]);
		must(sigwait(&told, &said) == 0);
		if (fork() == 0) {
			int fd = open("f", O_RDONLY);
			must(fd >= 0 && read(fd, &byte, 1) == 1 && write(alive[1], &byte, 1) == 1);
			_exit(0);
		}
		pause();
	}
	close(alive[1]);
	FILE *file = fopen("id", "w");
	must(file != NULL && fprintf(file, "%d\n", (int)parent) > 0 && fclose(file) == 0 && rename("id", "forks") == 0);
	must(read(alive[0], &byte, 1) == 1 && byte == 'x');
	must(read(alive[0], &byte, 1) == 0);
	wait_for(parent);
}

static void left_to_init(void) { left(); }

static void left_to_the_tree(void)
{
	must(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	left();
}

static const scene scenes[] = {
	{"killed_as_they_fork", killed_as_they_fork},
	{"left_to_init", left_to_init},
	{"left_to_the_tree", left_to_the_tree},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
