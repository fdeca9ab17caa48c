/* spawn.h: a process that is not the host's child. */
#ifndef JC_SPAWN_H
#define JC_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

/* What to run, and with what. Everything is the caller's, and stays until
 * jc_spawn_wait has returned. */
typedef struct jc_spawn {
	const char *program, *folder; /* folder: NULL for the host's */
	char *const *arguments, *const *variables;
	int descriptors[8];     /* that the program gets under these numbers, -1 at the end */
	int in, out, err;       /* what it gets as 0, 1 and 2; -1: the host's */
	int inherit;            /* the program gets the host's other descriptors too, and what it ignores */
	int done;               /* a pipe that gets the letter k when the program has ended */
	uint64_t blocked;       /* signals that are blocked when the program starts */
	uint32_t limited;       /* a bit for each limit that the program is given */
	uint64_t limits[16][2]; /* by their numbers: the soft one, the hard one */
	int umask;              /* that the program is given; -1: the host's */
	pid_t keeper;           /* set: the process that waits for it */
	int32_t status;         /* set, before done is written to: as waitpid gives it */
	int ends;               /* the signal by which the program ends, and all that it started */
	void *stack;
	int host, self;  /* the keeper's: who it works for, and who it is */
	int32_t started; /* the keeper's: 0 until the program runs, or cannot */
	int ignores;     /* the keeper's: the host ignores SIGCHLD */
	int32_t ending;  /* set: the keeper ends the program */
} jc_spawn;

/* jc_spawn_start starts it, and returns 0 or an errno. The program is the child
 * of a keeper, a process that shares the host's memory and does nothing but wait:
 * it ends without a SIGCHLD to the host, and the host's wait does not see it. When
 * the host ends, so does the keeper; when the keeper does, so does the program. */
int jc_spawn_start(jc_spawn *s);

/* jc_spawn_end asks the keeper to end the program and to wait for it. The two leave nothing to
 * process 1, which in a container often waits for nobody. jc_spawn_gone tells when they have
 * ended. */
void jc_spawn_end(jc_spawn *s);

/* jc_spawn_kill kills the keeper; the program ends with it, as a child of process 1. */
void jc_spawn_kill(const jc_spawn *s);

/* jc_spawn_gone reports whether the keeper has ended, however: jc_spawn_wait has then
 * to be called, and returns at once. */
int jc_spawn_gone(const jc_spawn *s);

/* jc_spawn_wait waits for the keeper's end, and gives back what it used. */
void jc_spawn_wait(jc_spawn *s);

#endif
