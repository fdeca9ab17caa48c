/* filter.h: the seccomp filter that stops the tree at calls that matter. */
#ifndef JO_FILTER_H
#define JO_FILTER_H

/* Most calls only look. With notices the kernel hands these to a thread of the tracer,
 * which may also answer them, in two thirds of the time of a stop (notify.c). Without
 * notices, on older kernels, they are stops too. */
enum jo_filter { JO_STOPS, JO_NOTICES };

/* jo_filter_notices reports whether notices can be used. A signal interrupts a call that
 * waits for an answer, and the tracer must be able to restart it (stop.h). */
int jo_filter_notices(void);

/* The data of a stop, as PTRACE_GET_SYSCALL_INFO gives it. */
enum { JO_STOP_CALL = 1, JO_STOP_FOREIGN = 2 };

/* jo_filter_watch adds a descriptor that the command comes with. The filter then stops at
 * reading it or handing it on; with writes, only at writing to it. */
void jo_filter_watch(int fd, int writes);

/* jo_filter_terminal makes the filter stop at questions whether a descriptor is a terminal.
 * The terminal's size stays unknown. */
void jo_filter_terminal(void);

/* jo_filter_make computes both filters. It returns 0 if there are too many descriptors for
 * a filter. */
int jo_filter_make(void);

/* jo_filter_install puts a filter on the calling process and all that it will
 * start. It returns -1 if the kernel refuses, and else, with notices, the
 * descriptor that they are read from. */
int jo_filter_install(enum jo_filter which);

/* jo_filter_lowers reports whether a traced process under a filter cannot gain privileges by
 * running a set-id program, which is so if the tracer lacks one of two capabilities. */
int jo_filter_lowers(void);

#endif
