/* report.h: what the tracer tells, byte by byte. observe/report.go reads it.
 *
 * A report is records, one after the other: a letter, the number of bytes that
 * follow as 4 bytes, and those bytes. Numbers are little-endian. A report that
 * does not end in JO_END is that of a tracer that died. */
#ifndef JO_REPORT_H
#define JO_REPORT_H

#include <stddef.h>
#include <stdint.h>

enum {
	JO_PROGRAM = 'P', /* u32 id, path, argument count and arguments */
	JO_NAME = 'N',    /* a name and what was done with it: names.c */
	JO_CONTENT = 'C', /* path, and the content of a file whose stamp proves nothing */
	JO_LISTING = 'L', /* path of a folder, and the names in it */
	JO_WRITTEN = 'W', /* u32 how, path, name: what the tree made of a file, and what it called it */
	JO_USE = 'U',     /* u32 which, u64 programs, detail: something that no name shows */
	JO_OUTPUT = 'O',  /* u32 stream, u64 size: up to where a stream had come, in order */
	JO_END = 'E',     /* i32 status as of waitpid, u32 errno why it did not run, u32 flags */
};

/* Strings are a u32 length and bytes. */

/* Flags of JO_END. */
enum {
	JO_UNOBSERVED = 1, /* the command was run plain: it could not be observed */
	JO_OUTLIVED = 2,   /* processes of the tree were still running */
};

/* What JO_USE can be about. Those up to JO_USE_LIMITS, and JO_USE_UMASK, are inputs; a
 * result that has used one of the others cannot be repeated. */
enum {
	JO_USE_CWD = 1,    /* getcwd */
	JO_USE_CLOCK,      /* the time of day */
	JO_USE_HOST,       /* uname */
	JO_USE_LIMITS,     /* getrlimit of another process, or by a program's wish */
	JO_USE_INPUT,      /* standard input was read */
	JO_USE_DESCRIPTOR, /* a descriptor was used that the command came with */
	JO_USE_SOCKET,     /* a connection, or the attempt */
	JO_USE_DEVICE,     /* a device or pipe, by its name */
	JO_USE_IPC,        /* memory or queues that others may share */
	JO_USE_PRIVILEGE,  /* a set-id program, or one with capabilities */
	JO_USE_NAMESPACE,  /* another root, mounts, or namespaces */
	JO_USE_TRACE,      /* the tree traces, or looks into other processes */
	JO_USE_FOREIGN,    /* a program of another architecture, or run by binfmt_misc */
	JO_USE_ATTRIBUTES, /* extended attributes */
	JO_USE_UNKNOWN,    /* a system call that this tracer does not know */
	JO_USE_UNREADABLE, /* an argument that could not be read */
	JO_USE_LIVES,      /* processes share what the tracer keeps for each */
	JO_USE_UNSTEADY,   /* a file that somebody else made meanwhile, or a folder that is another by now */
	JO_USE_SIGNAL,     /* a signal to a process outside the tree, or the question whether there is one */
	JO_USE_IDENTITY,   /* a process became another user, or gave up privileges */
	JO_USE_INODE,      /* of a file just that was asked for which no list has: who owns it, which it is */
	JO_USE_UMASK,      /* umask, which says what it was */
	JO_USE_DENIED,     /* something was to be made or changed, and might not */
};

/* jo_report_open takes the descriptor that reports go to. */
void jo_report_open(int fd);

/* jo_report_begin starts a record, jo_report_end writes it. In between the
 * others add to it. */
void jo_report_begin(int letter);
void jo_report_u32(uint32_t v);
void jo_report_u64(uint64_t v);
void jo_report_string(const char *s, size_t n);
void jo_report_end(void);

/* jo_report_copy adds the first size bytes of fd to the record that was begun,
 * which must come last in it, and ends it. If the file is shorter by now the
 * rest is zeros: its digest will not fit. */
void jo_report_copy(int fd, uint64_t size);

/* jo_report_flush writes what is buffered. jo_report_drop begins the whole report again. */
void jo_report_flush(void);
void jo_report_drop(void);

#endif
