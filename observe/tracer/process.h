/* process.h: the processes of the tree, and reading what they hand to calls. */
#ifndef JO_PROCESS_H
#define JO_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A call that is waited for the end of, because only that tells whether it did
 * something (change.c). */
typedef struct jo_pending {
	int class;       /* 0: none */
	int existed;     /* what there was before: its type, 0 for nothing */
	int flags;       /* of open */
	uint32_t form;   /* JO_RELATIVE or JO_ABSOLUTE */
	char *path;      /* malloc'd: as the tree named it */
	char *real;      /* malloc'd: without links but the last */
	char *real_from; /* malloc'd: rename's old path */
} jo_pending;

/* What threads of a process share. */
typedef struct jo_group {
	int threads;
	int memory;  /* /proc/PID/mem, -1: not open */
	char *cwd;   /* malloc'd: as it was entered, absolute; "": it cannot be told */
	int moved;   /* cwd was entered by a path of its own */
	char *exe;   /* malloc'd: the program that it runs, as it was named; NULL: it cannot be told */
	int program; /* id */
	int counted; /* its program has asked how many processes there may be */
	int child;   /* it is not the command's own */
} jo_group;

typedef struct jo_process {
	pid_t id;
	int known;   /* its parent's event has come */
	int stopped; /* it waits for that, and for how many ticks */
	int placed;  /* it, or who has started it, has asked or said on which CPUs: they stay so */
	int refused; /* its call was not done, but made to fail */
	jo_group *group;
	dev_t expected_dev; /* of the program that its execve is to run */
	ino_t expected_ino;
	char *expected; /* malloc'd: that, as it was named */
	jo_pending pending;
	struct jo_name *way; /* the folder that its walk has come to (walk.h), NULL: it is on none */
	int way_ends;        /* the last step was there */
} jo_process;

/* jo_process_of returns the entry of a process or thread; with make one is made
 * if there is none. NULL: there is none. jo_process_was says whether a process or
 * thread of the tree has ever had an id. */
jo_process *jo_process_of(pid_t id, int make);
int jo_process_was(pid_t id);

/* jo_process_born gives a new process what its parent has; a thread shares it. */
void jo_process_born(jo_process *p, const jo_process *parent, int thread);

/* jo_process_gone forgets a process, jo_process_forget all, jo_processes counts them. */
void jo_process_gone(pid_t id);
void jo_process_forget(void);
int jo_processes(void);

/* jo_process_each calls a function for every process and thread. */
void jo_process_each(void (*f)(pid_t id));

/* jo_process_take_over ends the other threads of a process: one of them, before,
 * has run another program and is p from now on. */
void jo_process_take_over(jo_process *p, pid_t before);

/* jo_process_exec is called when a process runs another program: its memory is
 * another one. */
void jo_process_exec(jo_process *p);

/* jo_process_string reads a string that ends in a NUL out of a process, and
 * returns its length; -1: it cannot be read, size: it is size bytes or longer. */
ssize_t jo_process_string(jo_process *p, uint64_t at, char *into, size_t size);

/* jo_process_read reads n bytes, jo_process_write writes them; 0: they cannot. */
int jo_process_read(jo_process *p, uint64_t at, void *into, size_t n);
int jo_process_write(jo_process *p, uint64_t at, const void *from, size_t n);

/* jo_process_descriptor reads what a descriptor of a process is, as the link in
 * /proc says. It returns the length; -1 if there is none; -2 if the process hides
 * that from the tracer. */
ssize_t jo_process_descriptor(const jo_process *p, int fd, char *into, size_t size);

/* jo_status is what the kernel says of a process or thread; -1 each if it cannot be read. */
typedef struct {
	uid_t user; /* as whom it acts */
	gid_t group;
	pid_t process, parent; /* which process it is of, and the parent of that */
} jo_status;

jo_status jo_process_status(const jo_process *p);

void jo_pending_clear(jo_pending *p);

#endif
