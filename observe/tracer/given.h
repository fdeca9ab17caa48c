/* given.h: questions about the descriptors that the command was started with. What is read or written
 * there is a use of them (use.h). What a process is told about one may count, or not (record). */
#ifndef JO_GIVEN_H
#define JO_GIVEN_H

#include <stdint.h>

#include "process.h"

/* What a process asks. A question for the file position is one of its own, because Python always asks
 * for that of standard input; JO_GIVEN_SIZE are all other seeks. */
enum jo_given {
	JO_GIVEN_STAT,
	JO_GIVEN_PLACE,
	JO_GIVEN_SIZE,
	JO_GIVEN_FLAGS,
	JO_GIVEN_TERMINAL,
	JO_GIVEN_PEER,
	JO_GIVEN_READY,
	JO_GIVEN_CONTROL,
	JO_GIVEN_QUESTIONS,
};

/* jo_given_asked reports whether a descriptor is one that was given, and notes the question. Of standard
 * input it notes how often the program has asked it. */
int jo_given_asked(jo_process *p, int fd, enum jo_given what);

/* jo_given_exists notes that a process asks whether a descriptor is open, unless it has opened it. */
void jo_given_exists(jo_process *p, int fd);

/* jo_given_wait handles poll, select and their like. */
void jo_given_wait(jo_process *p, long nr, const uint64_t args[6]);

/* jo_given_control handles an ioctl. It reports whether the descriptor is one that was given. */
int jo_given_control(jo_process *p, const uint64_t args[6]);

/* jo_given_fcntl handles a fcntl that asks. It returns 0 for any other. */
int jo_given_fcntl(jo_process *p, const uint64_t args[6]);

#endif
