/* process.h: the processes of the tree, and their memory. */
#ifndef JO_PROCESS_H
#define JO_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A call at whose end the tracer stops too, because only its result tells whether it has
 * changed something (change.c). */
typedef struct jo_pending {
	int class;       /* 0: none */
	int existed;     /* the type of what was there before the call, 0 for nothing */
	int flags;       /* of open */
	uint32_t mode;   /* the permissions that open asks for; of a change JO_MODED, or 0 */
	uint32_t form;   /* JO_RELATIVE or JO_ABSOLUTE */
	char *path;      /* malloc'd: as the tree named it */
	char *real;      /* malloc'd: the same path, with the links among its folders resolved */
	char *real_from; /* malloc'd: rename's old path */
} jo_pending;

/* What is left to do at the end of a call of a hermetic tree (hermetic.h). */
typedef struct jo_shown {
	int open;      /* something is */
	int again;     /* the call was interrupted, and the kernel may continue it by restart_syscall */
	int call;      /* its number */
	uint64_t at;   /* the address of an answer with times */
	int argument;  /* the argument that was changed; -1: none */
	uint64_t was;  /* what it was */
	int64_t began; /* when the wait began, by the monotonic clock */
	int64_t until; /* what the clock is to show when the wait has run out (clock.h); 0: what it does */
} jo_shown;

/* What the threads of a process share. */
typedef struct jo_group {
	int threads;
	int memory;       /* /proc/PID/mem, -1: not open */
	char *cwd;        /* malloc'd: the current folder by the path by which it was entered, absolute; "": unknown */
	int moved;        /* cwd was entered by an absolute path */
	char *exe;        /* malloc'd: the program, as it was named; NULL: unknown */
	int program;      /* id */
	uint8_t asked[8]; /* how often the program has asked each question about standard input (given.h) */
	int steps;        /* it stops at all its calls: it has opened a job server (jobserver.h) */
	int counted;      /* the program has asked for RLIMIT_NPROC */
	int child;        /* it is not the command's first process */
	int shell;        /* its program is a shell (decider.h) */
	int64_t clock; /* how far its readings have moved the clock of a hermetic process on, in nanoseconds (clock.h)
	                */
	int begun;     /* the number of the execve that has begun its program; a child has its parent's */
} jo_group;

typedef struct jo_process {
	pid_t id;
	int known;   /* the event of its birth has come from its parent */
	int stopped; /* it waits for that event, stopped, for so many ticks; 0: it does not wait */
	int placed;  /* its CPUs, or its parent's, were read or set: the tracer leaves them alone */
	jo_group *group;
	dev_t expected_dev; /* of the program that execve is about to run */
	ino_t expected_ino;
	char *expected; /* malloc'd: its path, as it was named */
	uint64_t code;  /* where the call that it makes stands in its memory */
	jo_pending pending;
	jo_shown shown;
	int64_t slept; /* how far this thread's sleeps have moved its clock on: other threads may sleep for themselves
	                */
	struct jo_name *way; /* the folder that its walk has reached (walk.h), NULL: it is on none */
	int way_ends;        /* the last step was at that folder */
} jo_process;

/* jo_process_of returns the entry of a process or thread. If there is none, it makes one if make
 * is set, and else returns NULL. jo_process_was reports whether any process or thread of the tree
 * has ever had this id. */
jo_process *jo_process_of(pid_t id, int make);
int jo_process_was(pid_t id);

/* jo_process_born copies the parent's state to a new process; a thread shares it. */
void jo_process_born(jo_process *p, const jo_process *parent, int thread);

/* jo_process_gone forgets a process, jo_process_forget all, jo_processes counts them. */
void jo_process_gone(pid_t id);
void jo_process_forget(void);
int jo_processes(void);

/* jo_process_each calls a function for every process and thread. */
void jo_process_each(void (*f)(pid_t id));

/* jo_process_take_over is called when a thread has called execve: its id was before, and it is p
 * from now on. The other threads of the process are forgotten. */
void jo_process_take_over(jo_process *p, pid_t before);

/* jo_process_exec is called when a process has begun another program and has new memory. */
void jo_process_exec(jo_process *p);

/* jo_process_string reads a string from a process's memory and returns its length; -1 if it
 * cannot be read, size if it is size bytes or longer. */
ssize_t jo_process_string(jo_process *p, uint64_t at, char *into, size_t size);

/* jo_process_read reads n bytes, jo_process_write writes them. Both return 0 if they cannot. */
int jo_process_read(jo_process *p, uint64_t at, void *into, size_t n);
int jo_process_write(jo_process *p, uint64_t at, const void *from, size_t n);

/* jo_process_descriptor reads the link in /proc of a descriptor of a process. It returns the
 * length; -1 if there is no such descriptor; -2 if the process hides it from the tracer, or if
 * the link does not fit into size bytes. */
ssize_t jo_process_descriptor(const jo_process *p, int fd, char *into, size_t size);

/* jo_status is what /proc tells about a process or thread; each is -1, or 0 for the state, if it
 * cannot be read. */
typedef struct {
	char state; /* S: it sleeps, R: it runs, ...: proc(5) */
	uid_t user; /* effective */
	gid_t group;
	pid_t process, parent; /* the process that a thread belongs to, and that one's parent */
} jo_status;

jo_status jo_process_status(const jo_process *p);

void jo_pending_clear(jo_pending *p);

#endif
