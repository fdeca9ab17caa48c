/* stop.h: reading and changing the system call at which a process is stopped. Only the
 * tracing thread may call these. */
#ifndef JO_STOP_H
#define JO_STOP_H

#include <stdint.h>
#include <sys/types.h>

/* Where a process is stopped. */
enum {
	JO_AT_NOTHING, /* unknown */
	JO_GONE,       /* it was killed meanwhile */
	JO_AT_FILTER,
	JO_AT_ENTRY,
	JO_AT_EXIT,
};

typedef struct jo_stop {
	int where;
	int foreign; /* the call is one of another architecture */
	long number;
	uint64_t arguments[6];
	int64_t result; /* at the exit */
	uint64_t stack;
	uint64_t code; /* the address of the instruction behind the call */
} jo_stop;

/* jo_stop_request calls ptrace, for which glibc's header conflicts with the kernel's. */
long jo_stop_request(long what, pid_t id, unsigned long size, unsigned long data);

/* jo_stop_known reports whether this kernel stops at a filter as the tracer expects it: Linux 4.8
 * and later do. */
int jo_stop_known(void);

/* jo_stop_tells_entries reports whether this kernel tells the entry of a call from its end: Linux 5.3 and later do. */
int jo_stop_tells_entries(void);

/* jo_stop_filter reads a stop of the filter, jo_stop_end one at the end of a call, and
 * jo_stop_program the one after execve, with the stack pointer. */
jo_stop jo_stop_filter(pid_t id);
jo_stop jo_stop_end(pid_t id);
jo_stop jo_stop_program(pid_t id);

/* jo_stop_change sets an argument of the call at which the filter has stopped a process.
 * jo_stop_refuse makes the call fail with an errno, without being done; jo_stop_answer makes it
 * return something. All return 0 if they cannot. */
int jo_stop_change(pid_t id, int argument, uint64_t value);
int jo_stop_refuse(pid_t id, int error);
int jo_stop_answer(pid_t id, int64_t result);

/* jo_stop_interrupted reports, at the stop for a signal, whether the signal has interrupted a
 * call that the kernel restarts only with SA_RESTART; s gets the call. jo_stop_restart makes
 * the kernel restart it in any case. */
int jo_stop_interrupted(pid_t id, jo_stop *s);
void jo_stop_restart(pid_t id);

#endif
