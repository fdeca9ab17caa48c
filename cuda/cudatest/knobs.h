/* knobs.h: the variables by which tests control the fakes, and count their calls. */
#ifndef CUDATEST_KNOBS_H
#define CUDATEST_KNOBS_H

/* knob_number returns a variable of the environment as a number. */
int knob_number(const char *variable, int otherwise);

/* knob_failure returns the code that a call must fail with, 0 for none, and counts the
 * call. With "cuInit=100,cuModuleLoadDataEx=209:2", cuInit always fails with 100, and the
 * first two calls of cuModuleLoadDataEx in this process fail with 209. For one thread at a
 * time. */
int knob_failure(const char *variable, const char *call);

/* knob_gate waits, if a variable is set: the thread takes the variable's value as its
 * name, and goes on when its process gets SIGUSR2. An observer sees nothing of this. For
 * one thread of a process at a time. */
void knob_gate(const char *variable);

/* knob_witness counts a call by a file with a line in calls/__pycache__ beside the
 * library, if that folder exists. Files in __pycache__ are no inputs, so results are kept
 * although NVRTC writes there. */
__attribute__((format(printf, 1, 2))) void knob_witness(const char *format, ...);

/* knob_log appends a line to the file that a variable names, if it is set. It uses a
 * single write, so that lines of many threads and processes do not mix. */
__attribute__((format(printf, 2, 3))) void knob_log(const char *variable, const char *format, ...);

#endif
