/* Scenes about the CPUs that a process runs on. */
#include "scene.h"

#include <sched.h>
#include <sys/wait.h>

enum { FORKS = 40 };

static int count(void)
{
	cpu_set_t set;
	must(sched_getaffinity(0, sizeof set, &set) == 0);
	return CPU_COUNT(&set);
}

/* still says whether a process has one CPU, and just that. */
static int still(int cpu)
{
	cpu_set_t set;
	must(sched_getaffinity(0, sizeof set, &set) == 0);
	return CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set);
}

static void wait_for_all(void)
{
	int status;
	while (wait(&status) > 0)
		must(status == 0);
}

/* sets_its_cpus: for each CPU there is a process that wants it, and a child of that. They
 * look again and again. */
static void sets_its_cpus(void)
{
	cpu_set_t all, one;
	must(sched_getaffinity(0, sizeof all, &all) == 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || fork() != 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		must(sched_setaffinity(0, sizeof one, &one) == 0);
		pid_t child = fork();
		for (int i = 0; i < 40; i++) {
			must(still(cpu));
			usleep(10000);
		}
		if (child != 0)
			wait_for_all();
		_exit(0);
	}
	wait_for_all();
	must(count() == CPU_COUNT(&all));
}

/* asks_for_its_cpus prints how many processes there were each of which sees how many CPUs,
 * while others are forked. */
static void asks_for_its_cpus(void)
{
	int seen = 0, status;
	for (int i = 0; i < FORKS; i++)
		if (fork() == 0)
			_exit(count() % 256);
	while (wait(&status) > 0)
		seen += WEXITSTATUS(status);
	printf("%d by %d\n", seen, count());
	fflush(stdout);
}

/* reads_its_cpus prints what /proc says of that. */
static void reads_its_cpus(void)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	must(status != NULL);
	while (fgets(line, sizeof line, status) != NULL)
		if (strncmp(line, "Cpus_allowed", 12) == 0)
			fputs(line, stdout);
	fclose(status);
	fflush(stdout);
}

/* reads_its_cpus_elsewhere does so where the tracer no longer looks. */
static void reads_its_cpus_elsewhere(void)
{
	must(unshare(CLONE_NEWNS) == 0);
	reads_its_cpus();
}

static const scene scenes[] = {
	{"sets_its_cpus", sets_its_cpus},
	{"asks_for_its_cpus", asks_for_its_cpus},
	{"reads_its_cpus", reads_its_cpus},
	{"reads_its_cpus_elsewhere", reads_its_cpus_elsewhere},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
