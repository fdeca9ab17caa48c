/* filter.h: the seccomp filter that stops the processes of the tree at calls that matter. */
#ifndef JO_FILTER_H
#define JO_FILTER_H

#include <stdint.h>

/* Most calls only look at files. With notices, which are seccomp's user notifications, the
 * kernel hands such a call to a thread of the tracer, and the thread may answer it. That takes
 * two thirds of the time of a stop (notify.c). Without notices, on older kernels, such calls
 * are stops too. */
enum jo_filter { JO_STOPS, JO_NOTICES };

/* jo_filter_notices reports whether the tracer can use notices on this architecture. A signal
 * interrupts a call that waits for its answer, and the tracer must be able to restart the call
 * (stop.h). */
int jo_filter_notices(void);

/* The data that the filter gives to a stop, and PTRACE_GET_SYSCALL_INFO returns.
 * JO_STOP_FOREIGN: the call is one of another architecture. */
enum { JO_STOP_CALL = 1, JO_STOP_FOREIGN = 2 };

/* jo_filter_watch adds a descriptor that the command is started with. The filter then stops a
 * process that reads from it or duplicates it; with writes, one that writes to it. */
void jo_filter_watch(int fd, int writes);

/* jo_filter_openings makes the filter stop at openings for reading too, where it would give notice. */
void jo_filter_openings(void);

/* jo_filter_terminal makes the filter stop at ioctls that ask whether a descriptor is a
 * terminal. An ioctl that asks for the terminal's size fails. */
void jo_filter_terminal(void);

/* jo_filter_times makes the filter stop at the calls, too, for which a function returns 1; at futex where it waits for
 * a time. */
void jo_filter_times(int (*stops)(long nr));

/* jo_filter_control reports whether an ioctl is harmless on a descriptor that the command was not given. */
int jo_filter_control(uint32_t request);

/* jo_filter_make computes both filters. It returns 0 if there are too many descriptors for
 * a filter. */
int jo_filter_make(void);

/* jo_filter_install installs a filter for the calling process and all that it will start. It
 * returns -1 if the kernel refuses; with notices, the descriptor to read them from; else 0. */
int jo_filter_install(enum jo_filter which);

/* jo_filter_lowers reports whether an observed process cannot gain privileges by running a
 * set-id program. That is so if the tracer lacks one of two capabilities. */
int jo_filter_lowers(void);

#endif
