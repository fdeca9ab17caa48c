/* process.h: the processes of the tree, and reading what they hand to calls. */
#ifndef JO_PROCESS_H
#define JO_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A call that is waited for the end of, because only that tells whether it did
 * something. */
typedef struct jo_pending {
	int class;       /* 0: none */
	int existed;     /* what there was before: its type, 0 for nothing */
	int flags;       /* of open */
	char *path;      /* malloc'd: as the tree named it */
	char *real;      /* malloc'd: without links but the last */
	char *real_from; /* malloc'd: rename's old path */
} jo_pending;

/* What threads of a process share. */
typedef struct jo_group {
	int threads;
	int memory;  /* /proc/PID/mem, -1: not open */
	char *cwd;   /* malloc'd: as it was entered, absolute */
	int moved;   /* it was entered by an absolute path, and is not the first */
	int program; /* id */
} jo_group;

typedef struct jo_process {
	pid_t id;
	int known;   /* its parent's event has come */
	int stopped; /* it waits for that */
	jo_group *group;
	dev_t expected_dev; /* of the program that its execve is to run */
	ino_t expected_ino;
	jo_pending pending;
} jo_process;

/* jo_process_of returns the entry of a process or thread; with make one is made
 * if there is none. NULL: there is none. */
jo_process *jo_process_of(pid_t id, int make);

/* jo_process_born gives a new process what its parent has; a thread shares it. */
void jo_process_born(jo_process *p, const jo_process *parent, int thread);

/* jo_process_gone forgets a process, jo_processes counts them. */
void jo_process_gone(pid_t id);
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
 * returns its length, -1 if it cannot be read or is size bytes or longer. */
ssize_t jo_process_string(jo_process *p, uint64_t at, char *into, size_t size);

/* jo_process_read reads n bytes, jo_process_write writes them; 0: they cannot. */
int jo_process_read(jo_process *p, uint64_t at, void *into, size_t n);
int jo_process_write(jo_process *p, uint64_t at, const void *from, size_t n);

/* jo_process_descriptor reads what a descriptor of a process is, as the link in
 * /proc says, and returns the length, -1 if there is none. */
ssize_t jo_process_descriptor(const jo_process *p, int fd, char *into, size_t size);

void jo_pending_clear(jo_pending *p);

#endif
