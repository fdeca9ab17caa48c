/* output.h: what the tree writes to standard output and error, in order.
 *
 * Both go to files, so that no reader is needed that could keep a writer
 * waiting. Before each write to either the tracer notes how far both have come:
 * that is the order of what is in them. */
#ifndef JO_OUTPUT_H
#define JO_OUTPUT_H

#include <sys/stat.h>
#include <sys/types.h>

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

#endif
