/* report.h: the tracer's report, byte by byte. observe/report.go reads it.
 *
 * A report is a sequence of records. A record is a letter, a length of 4 bytes, and that many
 * bytes. Numbers are little-endian. A report that does not end in JO_END was written by a
 * tracer that died. */
#ifndef JO_REPORT_H
#define JO_REPORT_H

#include <stddef.h>
#include <stdint.h>

enum {
	JO_PROGRAM = 'P', /* u32 id, path, argument count and arguments */
	JO_NAME = 'N',    /* a name and what was done with it: names.c */
	JO_CONTENT = 'C', /* path, and the content of a file whose stamp proves nothing */
	JO_LISTING = 'L', /* path of a folder, and the names in it */
	JO_WRITTEN = 'W', /* what became of a file, and by which name the tree wrote it: written.c */
	JO_USE = 'U',     /* u32 which, u64 programs, detail: a use that no name shows */
	JO_OUTPUT = 'O',  /* u32 stream, u64 size: how long a stream was; their order is that of the writes */
	JO_END = 'E',     /* i32 status as of waitpid, u32 errno of execve, u32 flags */
};

/* Strings are a u32 length and bytes. */

/* Flags of JO_END. */
enum {
	JO_UNOBSERVED = 1, /* the command could not be observed, and ran without a tracer */
	JO_OUTLIVED = 2,   /* processes of the tree were still running */
};

/* The uses. Those up to JO_USE_LIMITS, JO_USE_UMASK, JO_USE_STDIN, JO_USE_GIVEN and JO_USE_JOBSERVER are inputs. A run
 * with one of the others cannot be repeated. */
enum {
	JO_USE_CWD = 1,    /* getcwd */
	JO_USE_CLOCK,      /* the time of day */
	JO_USE_HOST,       /* uname */
	JO_USE_LIMITS,     /* limits of a process, by getrlimit or /proc */
	JO_USE_INPUT,      /* standard input was read */
	JO_USE_DESCRIPTOR, /* a descriptor that the command came with was used */
	JO_USE_SOCKET,     /* a connection, or the attempt */
	JO_USE_DEVICE,     /* a device or pipe, by its name */
	JO_USE_IPC,        /* memory or queues that others may share */
	JO_USE_PRIVILEGE,  /* a set-id program, or one with capabilities */
	JO_USE_NAMESPACE,  /* another root, mounts, or namespaces */
	JO_USE_TRACE,      /* the tree traces, or looks into other processes */
	JO_USE_FOREIGN,    /* a program of another architecture, or run by binfmt_misc */
	JO_USE_ATTRIBUTES, /* extended attributes */
	JO_USE_UNKNOWN,    /* a system call that this tracer does not know */
	JO_USE_UNREADABLE, /* something that the tracer could not read, such as an argument */
	JO_USE_LIVES,      /* processes share state that the tracer keeps for each, such as the current folder */
	JO_USE_UNSTEADY,   /* somebody else made a file meanwhile, or a path now leads to another folder */
	JO_USE_SIGNAL,     /* a signal to a process outside the tree, or a question whether it exists */
	JO_USE_IDENTITY,   /* a process became another user, or gave up privileges */
	JO_USE_INODE,      /* statx for single fields that no list holds, such as owner and inode number */
	JO_USE_UMASK,      /* umask, which returns the old one, or what tells the umask */
	JO_USE_DENIED,     /* the tree had no permission to make or change something */
	JO_USE_MOUNTS,     /* what is mounted, as /proc tells it */
	JO_USE_STDIN,      /* a question about standard input, how often the program has asked it, and what that
	                      is; "use" where it is /dev/null */
	JO_USE_GIVEN,      /* a descriptor that may have been given, "open" or "kind" as was asked, and the answer */
	JO_USE_JOBSERVER,  /* a job server, as one uses such */
	JO_USE_HERMETIC,   /* what has ended the showing of one second (hermetic.h) */
};

/* jo_report_open takes the descriptor that reports go to. */
void jo_report_open(int fd);

/* jo_report_begin starts a record, the next three add to it, and jo_report_end ends it. */
void jo_report_begin(int letter);
void jo_report_u32(uint32_t v);
void jo_report_u64(uint64_t v);
void jo_report_string(const char *s, size_t n);
void jo_report_end(void);

/* jo_report_copy adds the first size bytes of fd to the record, as its last part, and ends the
 * record. If the file is shorter by now, the rest is zeros, and the digest of the content will
 * not match. */
void jo_report_copy(int fd, uint64_t size);

/* jo_report_flush writes the buffer out. jo_report_drop discards the whole report. */
void jo_report_flush(void);
void jo_report_drop(void);

#endif
