/* main.c: the loop that reads commands. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	command *run;
	int nargs;
	const char *usage;
} commands[] = {
	{"open", run_open, 4, "PLACE DIRECTORY MEMORY_SIZE MAX_SIZE|-"},
	{"corpus", run_corpus, 4, "PLACE PREFIX COUNT SIZE"},
	{"stats", run_stats, 1, "PLACE"},
	{"close", run_close, 1, "PLACE"},
	{"warm", run_warm, 1, "PLACE"},
	{"get", run_get, 2, "PLACE N"},
	{"into", run_into, 2, "PLACE N"},
	{"get_behind", run_get_behind, 3, "PLACE FIRST N"},
	{"miss", run_miss, 2, "PLACE N"},
	{"read", run_read, 2, "PLACE N"},
	{"read_absent", run_read_absent, 2, "PLACE N"},
	{"write", run_write, 4, "DIRECTORY N SIZE EXTRA"},
	{"empty", run_empty, 2, "LIBRARY N"},
	{"tails", run_tails, 4, "PLACE THREADS MILLISECONDS get|read"},
	{"alone", run_alone, 4, "PLACE READERS SAMPLES get|read"},
	{"put", run_put, 5, "PLACE N MIN_SIZE MAX_SIZE NAME|-"},
	{"lease", run_lease, 3, "PLACE N SIZE"},
	{"keys", run_keys, 2, "SIZE N"},
	{"opens", run_opens, 2, "DIRECTORY N"},
	{"lease_pair", run_lease_pair, 2, "PLACE N"},
	{"flock_pair", run_flock_pair, 2, "DIRECTORY N"},
	{"hold", run_hold, 2, "PLACE KEY"},
	{"commit_held", run_commit_held, 1, "MILLISECONDS"},
	{"wait", run_wait, 2, "PLACE KEY"},
	{"wake", run_wake, 2, "PLACE N"},
};

static int marking;

void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static void mark(const char *what)
{
	char path[64];
	snprintf(path, sizeof path, "/bench-mark/%s", what);
	access(path, F_OK);
}

uint64_t begin(const char *what)
{
	if (marking)
		mark(what);
	return now();
}

uint64_t end(uint64_t begun)
{
	uint64_t took = now() - begun;
	if (marking)
		mark("end");
	return took;
}

uint64_t number(const char *text)
{
	char *rest;
	uint64_t n = strtoull(text, &rest, 10);
	if (rest == text || *rest != 0)
		die("%s: want a number", text);
	return n;
}

static void run(char *line)
{
	char *argv[8];
	int argc = 0;
	for (char *p = strtok(line, " \n"); p != NULL && argc < 8; p = strtok(NULL, " \n"))
		argv[argc++] = p;
	if (argc == 0)
		return;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, argv[0]) == 0) {
			if (argc - 1 != commands[i].nargs)
				die("want %s %s", argv[0], commands[i].usage);
			commands[i].run(argc, argv);
			return;
		}
	die("%s: unknown command", argv[0]);
}

int main(void)
{
	char line[4096];
	marking = getenv("BENCH_MARK") != NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL)
		run(line);
	return 0;
}
