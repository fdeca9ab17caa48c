/* stop.h: a process that stands still at a system call, what it asks for, and
 * changing that. All of this is for the thread that traces. */
#ifndef JO_STOP_H
#define JO_STOP_H

#include <stdint.h>
#include <sys/types.h>

/* Where a process stands. */
enum {
	JO_AT_NOTHING, /* that cannot be told */
	JO_GONE,       /* it was killed meanwhile */
	JO_AT_FILTER,
	JO_AT_ENTRY,
	JO_AT_EXIT,
};

typedef struct jo_stop {
	int where;
	int foreign; /* the call is that of another architecture */
	long number;
	uint64_t arguments[6];
	int64_t result; /* at the exit */
	uint64_t stack;
} jo_stop;

/* jo_stop_request is ptrace; libc's own header does not go with the kernel's. */
long jo_stop_request(long what, pid_t id, unsigned long size, unsigned long data);

/* jo_stop_known reports whether this kernel says enough of a stop: it is Linux 4.8
 * or later. */
int jo_stop_known(void);

/* jo_stop_filter reads a stop of the filter, jo_stop_end one at the end of a call,
 * and jo_stop_program that of a process that runs another program: its stack. */
jo_stop jo_stop_filter(pid_t id);
jo_stop jo_stop_end(pid_t id);
jo_stop jo_stop_program(pid_t id);

/* jo_stop_change sets an argument of the call at which the filter has stopped a
 * process. jo_stop_refuse makes the call fail with an errno, undone, and jo_stop_answer has it
 * return something. 0: it cannot. */
int jo_stop_change(pid_t id, int argument, uint64_t value);
int jo_stop_refuse(pid_t id, int error);
int jo_stop_answer(pid_t id, int64_t result);

/* jo_stop_interrupted reports whether a process, at the stop for a signal, stands in a
 * call that the signal has interrupted and that is made again only if the program
 * has asked for that; s gets the call. jo_stop_restart has it made again anyway. */
int jo_stop_interrupted(pid_t id, jo_stop *s);
void jo_stop_restart(pid_t id);

#endif
