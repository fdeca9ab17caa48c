/* calls.h: what each system call means to the tracer.
 *
 * There are three kinds. Those in harmless[] neither look at the world nor change it
 * beyond the process; the tracer does not stop at them. Those in calls[] are looked
 * into. All others are unknown: they are let through, and the result is not kept. So
 * a system call that a later kernel adds is never overlooked. */
#ifndef JO_CALLS_H
#define JO_CALLS_H

#include <stdint.h>

/* The ioctls by which programs ask whether a descriptor is a terminal: termios, termios2. */
enum { JO_TCGETS = 0x5401, JO_TCGETS2 = 0x802c542a };

/* FS_IOC_GETFLAGS: which flags does a file have? */
#define JO_GET_FLAGS 0x80086601u

enum jo_class {
	JO_CALL_UNKNOWN,     /* not in the lists */
	JO_CALL_HARMLESS,    /* not stopped at */
	JO_CALL_ABSENTED,    /* answered with ENOSYS, as by a kernel without it */
	JO_CALL_URING,       /* the same, but the call is seen */
	JO_CALL_OPEN,        /* path, flags: open */
	JO_CALL_OPEN_AT,     /* the same: openat */
	JO_CALL_OPEN_HOW,    /* path, struct open_how */
	JO_CALL_CREAT,       /* path */
	JO_CALL_LOOK,        /* path: stat */
	JO_CALL_LOOK_LINK,   /* path, and a link itself: lstat */
	JO_CALL_ACCESS,      /* path */
	JO_CALL_SYSTEM,      /* path: statfs, inotify */
	JO_CALL_READLINK,    /* path */
	JO_CALL_EXEC,        /* path */
	JO_CALL_CHDIR,       /* path */
	JO_CALL_FCHDIR,      /* descriptor */
	JO_CALL_GETCWD,      /* nothing */
	JO_CALL_LIST,        /* descriptor of a folder */
	JO_CALL_XATTR,       /* path, perhaps a name: extended attributes are read */
	JO_CALL_LXATTR,      /* the same, of a link itself */
	JO_CALL_FXATTR,      /* descriptor, perhaps a name */
	JO_CALL_MAKE,        /* path: mkdir, mknod, symlink */
	JO_CALL_REMOVE,      /* path */
	JO_CALL_RENAME,      /* old path, new path */
	JO_CALL_LINK,        /* old path, new path */
	JO_CALL_CHANGE,      /* path: chmod, truncate, utime */
	JO_CALL_LCHANGE,     /* path, and a link itself */
	JO_CALL_FCHANGE,     /* descriptor: fchmod */
	JO_CALL_READ,        /* descriptor: only of those that the command came with */
	JO_CALL_ASK,         /* the same, without standard input: fstat */
	JO_CALL_SEEK,        /* the same, and of the output: lseek, pread, pwrite, ftruncate */
	JO_CALL_WRITE,       /* descriptor: only of those that the command came with */
	JO_CALL_SEND,        /* input descriptor in another place: sendfile */
	JO_CALL_SPLICE,      /* two descriptors */
	JO_CALL_DUP,         /* descriptor: only of those that the command came with */
	JO_CALL_IOCTL,       /* descriptor, and none of the known questions */
	JO_CALL_FCNTL,       /* descriptor, and only F_DUPFD */
	JO_CALL_MAP,         /* descriptor as fifth argument */
	JO_CALL_CLOCK_ID,    /* clock */
	JO_CALL_TIME,        /* nothing: compilers ask for the date by it */
	JO_CALL_TIME_OF_DAY, /* nothing */
	JO_CALL_CLONE,       /* flags */
	JO_CALL_AFFINITY,    /* the CPUs of the process */
	JO_CALL_CONNECT,     /* descriptor, address, size */
	JO_CALL_SOCKET,      /* family */
	JO_CALL_SIGNAL,      /* process: kill, pidfd_open */
	JO_CALL_IDENTITY,    /* up to three ids that the process wants to have */
	JO_CALL_USED,        /* nothing: flag is the use (report.h) */
};

/* Where the arguments of a call are; -1: it has none. */
typedef struct jo_call {
	int nr;
	uint8_t class;
	int8_t folder, path; /* a descriptor that path is relative to */
	int8_t folder2, path2;
	int8_t flags; /* AT_…, or of open; of JO_CALL_XATTR the name */
} jo_call;

/* Flags of clone: a child that no tracer follows, and new namespaces: mounts, cgroups,
 * names, IPC, users, processes, network. (clone cannot make one of time: its bit belongs
 * to the signal.) */
enum { JO_CLONE_UNTRACED = 0x00800000, JO_CLONE_NAMESPACES = 0x7e020000 };

/* No system call has this number or a larger one. */
enum { JO_NUMBERS = 512 };

/* jo_call_of returns what is known of a system call, NULL if nothing is. */
const jo_call *jo_call_of(long nr);

/* jo_class_of returns the class of a system call. */
enum jo_class jo_class_of(long nr);

/* What the tracer does at a call. A negative number is minus an errno: the call is known to
 * fail with it, and may be answered so. */
enum {
	JO_GO_ON,
	JO_WAIT_FOR_END,
	JO_BROKEN_PIPE, /* a write has to fail as if the reader were gone */
	JO_ANSWERED,    /* the process has its answer, and the kernel is not asked */
};

#endif
