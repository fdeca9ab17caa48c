/* filter.h: the seccomp filter that stops the tree at calls that matter. */
#ifndef JO_FILTER_H
#define JO_FILTER_H

/* Calls that only look are most of them by far. With notices the kernel hands those
 * to a thread of the tracer, which may also answer them, in two thirds of the
 * time of a stop; notify.c. Without, for an older kernel, they are stops too. */
enum jo_filter { JO_STOPS, JO_NOTICES };

/* jo_filter_notices reports whether notices can be used: a signal interrupts a call that
 * waits for an answer, and the tracer must be able to mend that (stop.h). */
int jo_filter_notices(void);

/* The data of a stop, as PTRACE_GET_SYSCALL_INFO gives it. */
enum { JO_STOP_CALL = 1, JO_STOP_FOREIGN = 2 };

/* jo_filter_watch adds a descriptor that the command comes with: reading it, or
 * handing it on, is stopped at. With writes only writing to it is. */
void jo_filter_watch(int fd, int writes);

/* jo_filter_terminal has questions stopped at whether a descriptor is a terminal. How large
 * one is, is not known then. */
void jo_filter_terminal(void);

/* jo_filter_make computes both filters for what is watched, and returns 0 if there
 * are too many descriptors for one. */
int jo_filter_make(void);

/* jo_filter_install puts a filter on the calling process and all that it will
 * start. It returns -1 if the kernel refuses, and else, with notices, the
 * descriptor that they are read from. */
int jo_filter_install(enum jo_filter which);

/* jo_filter_lowers reports whether a process under a filter, which is traced, can gain no
 * privileges by running a set-id program: so it is without two capabilities. */
int jo_filter_lowers(void);

#endif
