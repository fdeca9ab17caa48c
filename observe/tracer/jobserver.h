/* jobserver.h: the job server, by which make and cargo share a number of jobs: a pipe or FIFO that holds a byte for
 * each job that may still start. Who wants to start one reads a byte, and writes it back in the end. The tokens are no
 * input: they say when something is done, and not what comes of it.
 *
 * A job server is what MAKEFLAGS, MFLAGS or CARGO_MAKEFLAGS name, if the command was given both ends of one pipe, or if
 * the path is that of a FIFO. make 4.3 names descriptors also where it does not give them, and they may be anything.
 * launch/jobserver.go asks the same.
 *
 * Programs open the pipe a second time, by /dev/fd, under a number that the filter does not watch. From then on the
 * process is stopped at all its calls, so that the tracer sees what it does with the job server. */
#ifndef JO_JOBSERVER_H
#define JO_JOBSERVER_H

#include <stdint.h>

#include "calls.h"
#include "process.h"

/* jo_jobserver_find looks in an environment for job servers that the command has. The descriptors that it was given
 * are known by then (use.h). */
void jo_jobserver_find(char *const *variables);

/* jo_jobserver_is reports whether a descriptor is one of a job server. */
int jo_jobserver_is(const jo_process *p, int fd);

/* jo_jobserver_call handles a call by which a process opens a job server, takes or returns one token, or asks what all
 * job servers answer alike. It returns 0 for any other call. */
int jo_jobserver_call(jo_process *p, const jo_call *c, const uint64_t args[6]);

/* jo_jobserver_entered is called at the entry of each call of a process that has opened a job server (jo_group.steps),
 * and jo_jobserver_executed when it has begun another program, which may not have it. */
void jo_jobserver_entered(jo_process *p, long nr, const uint64_t args[6]);
void jo_jobserver_executed(jo_process *p);

#endif
