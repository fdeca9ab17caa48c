/* output.h: what the tree writes to standard output and error, in order.
 *
 * Both go to files, so that no reader is needed that could keep a writer
 * waiting. Before each write to either the tracer notes how far both have come:
 * that is the order of what is in them. */
#ifndef JO_OUTPUT_H
#define JO_OUTPUT_H

/* jo_output_start takes the files, and where what is written is passed on to
 * while the tree runs; -1: nowhere. */
void jo_output_start(int out, int err, int pass_out, int pass_err);

/* jo_output_stop is called before a write. It returns 0 if the descriptor is
 * neither of the two. */
int jo_output_stop(int fd);

/* jo_output_pass notes how far both have come, and passes on what is new. */
void jo_output_pass(void);

#endif
