/* knobs.h: how tests steer the fakes, and count what they did. */
#ifndef CUDATEST_KNOBS_H
#define CUDATEST_KNOBS_H

/* knob_number returns a variable of the environment as a number. */
int knob_number(const char *variable, int otherwise);

/* knob_failure returns the code that a call is to fail with, 0 for none, and
 * counts it: "cuInit=100,cuModuleLoadDataEx=209:2" is always 100 for the one and
 * 209 for the first two of the other, in this process. One thread at a time. */
int knob_failure(const char *variable, const char *call);

/* knob_gate waits, if a variable is set: the thread takes its value as name, and goes
 * on when its process gets SIGUSR2. That is nothing that an observer sees. One thread of
 * a process at a time. */
void knob_gate(const char *variable);

/* knob_witness counts a call: by a file, with a line, in calls/__pycache__ beside the
 * library, if there is such a folder. What is written there is nobody's input, so a
 * result is kept in spite of it. */
__attribute__((format(printf, 1, 2))) void knob_witness(const char *format, ...);

/* knob_log appends a line to the file that a variable names, if it does, in one
 * write: lines of many threads and processes do not mix. */
__attribute__((format(printf, 2, 3))) void knob_log(const char *variable, const char *format, ...);

#endif
