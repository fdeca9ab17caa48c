/* start.h: a process that outlives the host, and is none of its children. */
#ifndef JC_REMOTE_START_H
#define JC_REMOTE_START_H

/* jc_remote_start runs a program in a session of its own, from /, without any of the
 * host's descriptors if close_all is set, and with the signals as they are at first. It
 * returns 0 once the program runs, else an errno. The host gets no SIGCHLD. */
int jc_remote_start(const char *program, char *const *arguments, char *const *variables, int close_all);

#endif
