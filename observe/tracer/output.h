/* output.h: what the tree writes to standard output and error, in order.
 *
 * Both streams go to files, so that no slow reader makes a writer wait. Before each write to
 * one of them the tracer notes how long both are, which gives the order of the writes. */
#ifndef JO_OUTPUT_H
#define JO_OUTPUT_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "process.h"

/* jo_output_start takes the files, and the descriptors to which output is passed on while the
 * tree runs, -1 for none. With terminals, a file whose output goes to a terminal looks like a
 * terminal to the tree. A stream stands for what its output is passed on to. */
void jo_output_start(int out, int err, int pass_out, int pass_err, int terminals);

/* jo_output_terminals reports whether one of the files stands for a terminal.
 * jo_output_is_terminal reports whether a descriptor of a process is such a file. */
int jo_output_terminals(void);
int jo_output_is_terminal(pid_t id, int fd);

/* jo_output_stop is called before a process writes to a descriptor. It returns one of these, or
 * minus an errno with which the write must fail because earlier output could not be passed on. */
enum {
	JO_OUTPUT_NOTED,
	JO_OUTPUT_OTHER, /* it is neither 1 nor 2 */
};
int jo_output_stop(pid_t id, int fd);

/* jo_output_is reports whether a file is that of a stream. */
int jo_output_is(const struct stat *st);

/* jo_output_sought is called before a process does with a descriptor what only files allow, or,
 * with changes 0, asks for its file position. It returns JO_OUTPUT_ASKED, or the position; or, if
 * the stream stands for a terminal or pipe, minus the errno that such a one gives. From the first
 * change on, a stream that stands for a file is kept equal to that file, and the result is not
 * kept. jo_output_opened is called before a path that leads to a stream is opened for writing. It
 * returns 0 if the stream must behave like a pipe. */
enum { JO_OUTPUT_ASKED = -1000 /* let the kernel do the call */ };
int64_t jo_output_sought(const jo_process *p, int fd, int changes);
int jo_output_opened(const jo_process *p, const struct stat *st);

/* jo_output_stands returns the descriptor that a stream stands for, after passing on what was
 * printed so far; -1 if there is none. st has to be the file of one of the two streams. */
int jo_output_stands(const struct stat *st);

/* jo_output_passed reports whether something was passed on, or could not be. jo_output_drop
 * empties both files, to begin again; it returns 0 if that fails. */
int jo_output_passed(void);
int jo_output_drop(void);

/* jo_output_unsaid returns the errno with which output could not be passed on, if no write of
 * the tree has failed with it since; else 0. */
int jo_output_unsaid(void);

/* The detail of the use if output could not be passed on: observe.LostOutput is the same. */
#define JO_OUTPUT_LOST "output that could not be passed on"

/* jo_output_pass notes how long both files are, and passes on what is new. */
void jo_output_pass(void);

/* jo_output_tick is jo_output_pass while the tree runs. It leaves a file that both streams stand for to
 * the next stop: nobody may write to it between the two copies that it would take. */
void jo_output_tick(void);

/* jo_output_end is the last jo_output_pass, when nothing more will be written. */
void jo_output_end(void);

#endif
