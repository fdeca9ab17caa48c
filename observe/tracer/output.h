/* output.h: what the tree writes to standard output and error, in order.
 *
 * Both go to files, so that no reader is needed that could keep a writer
 * waiting. Before each write to either the tracer notes how far both have come:
 * that is the order of what is in them. */
#ifndef JO_OUTPUT_H
#define JO_OUTPUT_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "process.h"

/* jo_output_start takes the files, and where what is written is passed on to
 * while the tree runs; -1: nowhere. With terminals, a file from which a terminal gets
 * its output stands for one. */
void jo_output_start(int out, int err, int pass_out, int pass_err, int terminals);

/* jo_output_terminals reports whether one of the files stands for a terminal, and
 * jo_output_is_terminal whether a descriptor of a process is such a file. */
int jo_output_terminals(void);
int jo_output_is_terminal(pid_t id, int fd);

/* jo_output_stop is called before a process writes to a descriptor, 1 or 2. It returns one of
 * these, or minus an errno: what was written before could not be passed on for that reason, and
 * now the write has to fail with it. */
enum {
	JO_OUTPUT_NOTED,
	JO_OUTPUT_OTHER, /* it is neither 1 nor 2 */
};
int jo_output_stop(pid_t id, int fd);

/* jo_output_is reports whether a file is one of the two. */
int jo_output_is(const struct stat *st);

/* jo_output_sought is called when a process does with a descriptor what only files allow, or, with
 * changes 0, asks for its place. It returns one of these, that place, or minus the errno which a terminal or
 * pipe has for an answer that a stream stands for. From the first change on a stream that stands for
 * a file is kept equal to it, and the result is not kept. jo_output_opened is called when a path that leads to a stream
 * is opened to be written; it returns 0 if that has to be done as of a pipe. */
enum { JO_OUTPUT_ASKED = -1000 /* the kernel may be asked */ };
int64_t jo_output_sought(const jo_process *p, int fd, int changes);
int jo_output_opened(const jo_process *p, const struct stat *st);

/* jo_output_passed says whether something was passed on; jo_output_drop empties both, to
 * begin again. 0: that cannot be. */
int jo_output_passed(void);
int jo_output_drop(void);

/* jo_output_unsaid returns why something could not be passed on that no write of the tree has
 * failed with since, as an errno; 0: there is nothing of that kind. */
int jo_output_unsaid(void);

/* What a result is refused for if something could not be passed on: observe.LostOutput. */
#define JO_OUTPUT_LOST "output that could not be passed on"

/* jo_output_pass notes how far both have come, and passes on what is new. */
void jo_output_pass(void);

/* jo_output_end is jo_output_pass when nothing comes any more. */
void jo_output_end(void);

#endif
