/* calls.h: what each system call means to the tracer.
 *
 * There are three kinds. Calls in harmless[] neither look at the world outside the process
 * nor change it; the tracer does not stop at them. The tracer handles the calls in calls[].
 * All others are unknown: the tracer lets them through, and the result is not kept. So it
 * never overlooks a system call that a later kernel adds. */
#ifndef JO_CALLS_H
#define JO_CALLS_H

#include <stdint.h>

/* The ioctls by which programs ask whether a descriptor is a terminal. They return a struct
 * termios and a struct termios2. */
enum { JO_TCGETS = 0x5401, JO_TCGETS2 = 0x802c542a };

/* FS_IOC_GETFLAGS: the ioctl that returns the flags of a file. */
#define JO_GET_FLAGS 0x80086601u

/* The classes of calls. A comment names the arguments that count, or gives examples. A given
 * descriptor is one that the command was started with. */
enum jo_class {
	JO_CALL_UNKNOWN,     /* not in the lists */
	JO_CALL_HARMLESS,    /* the tracer does not stop at it */
	JO_CALL_ABSENTED,    /* the filter fails it with ENOSYS, as a kernel without it would */
	JO_CALL_URING,       /* the tracer does the same, and notes the use */
	JO_CALL_OPEN,        /* path, flags: open */
	JO_CALL_OPEN_AT,     /* the same: openat */
	JO_CALL_OPEN_HOW,    /* path, struct open_how */
	JO_CALL_CREAT,       /* path */
	JO_CALL_LOOK,        /* path: stat */
	JO_CALL_LOOK_LINK,   /* path, of a link itself: lstat */
	JO_CALL_ACCESS,      /* path */
	JO_CALL_SYSTEM,      /* path: statfs, inotify */
	JO_CALL_FSYSTEM,     /* descriptor: fstatfs */
	JO_CALL_READLINK,    /* path */
	JO_CALL_EXEC,        /* path */
	JO_CALL_CHDIR,       /* path */
	JO_CALL_FCHDIR,      /* descriptor */
	JO_CALL_GETCWD,      /* none */
	JO_CALL_LIST,        /* descriptor of a folder */
	JO_CALL_XATTR,       /* path, perhaps an attribute's name: getxattr, listxattr */
	JO_CALL_LXATTR,      /* the same, of a link itself */
	JO_CALL_FXATTR,      /* descriptor, perhaps an attribute's name */
	JO_CALL_MAKE,        /* path: mkdir, mknod, symlink */
	JO_CALL_REMOVE,      /* path */
	JO_CALL_RENAME,      /* old path, new path */
	JO_CALL_LINK,        /* old path, new path */
	JO_CALL_CHANGE,      /* path: chmod, truncate, utime */
	JO_CALL_LCHANGE,     /* path, of a link itself */
	JO_CALL_FCHANGE,     /* descriptor: fchmod */
	JO_CALL_READ,        /* given descriptor: read */
	JO_CALL_ASK,         /* given descriptor: fstat */
	JO_CALL_PEER,        /* given descriptor: getsockname */
	JO_CALL_WAIT,        /* none: poll, select */
	JO_CALL_EPOLL,       /* given descriptor, as second argument */
	JO_CALL_SEEK,        /* given descriptor, or one of the output: lseek, pread, pwrite, ftruncate */
	JO_CALL_WRITE,       /* given descriptor, or one of the output: write */
	JO_CALL_SEND,        /* two descriptors: sendfile, tee */
	JO_CALL_SPLICE,      /* two descriptors, as first and third argument */
	JO_CALL_DUP,         /* given descriptor: dup */
	JO_CALL_IOCTL,       /* descriptor and request, if the filter does not allow them */
	JO_CALL_FCNTL,       /* given descriptor, only with commands that duplicate or ask; any with F_GETFD */
	JO_CALL_MAP,         /* given descriptor, as fifth argument */
	JO_CALL_CLOCK_ID,    /* clock */
	JO_CALL_TIME,        /* none: compilers ask for the date by this call */
	JO_CALL_TIME_OF_DAY, /* none */
	JO_CALL_CLONE,       /* flags */
	JO_CALL_AFFINITY,    /* process: the call reads or sets its CPUs */
	JO_CALL_CONNECT,     /* descriptor, address, size */
	JO_CALL_SOCKET,      /* family */
	JO_CALL_SIGNAL,      /* process: kill, pidfd_open */
	JO_CALL_IDENTITY,    /* up to three ids that the process wants to have */
	JO_CALL_FUTEX,       /* of the filter for a hermetic tree alone: a wait with a time */
	JO_CALL_USED,        /* none: jo_call.flags is the use (report.h) */
};

/* The indexes of a call's arguments; -1: the call has no such argument. */
typedef struct jo_call {
	int nr;
	uint8_t class;
	int8_t folder, path; /* folder: a descriptor that path is relative to */
	int8_t folder2, path2;
	int8_t flags; /* AT_…, or open's flags; of JO_CALL_XATTR and the like the attribute's name */
} jo_call;

/* Flags of clone. JO_CLONE_UNTRACED: no tracer follows the child. JO_CLONE_NAMESPACES: new
 * namespaces for mounts, cgroups, host names, IPC, users, processes and network. (clone
 * cannot make a time namespace: that bit belongs to the signal of the child's end.) */
enum { JO_CLONE_UNTRACED = 0x00800000, JO_CLONE_NAMESPACES = 0x7e020000 };

/* The numbers of all system calls are below this. */
enum { JO_NUMBERS = 512 };

/* jo_call_of returns the entry of a system call in calls[], NULL if it has none. */
const jo_call *jo_call_of(long nr);

/* jo_class_of returns the class of a system call. */
enum jo_class jo_class_of(long nr);

/* What the tracer does at a call. A negative number is minus an errno: the kernel would fail
 * the call with it, so the tracer may do so itself. */
enum {
	JO_GO_ON,
	JO_WAIT_FOR_END, /* stop again at the call's end */
	JO_BROKEN_PIPE,  /* make a write fail as if the reader were gone */
	JO_ANSWERED,     /* make the call return 0: the tracer has done its work */
};

#endif
