/* held.c: finds the descriptors of held locks after fork, and closes them. */
#include "held.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int held;

void jc_held_rise(void) { atomic_fetch_add(&held, 1); }
void jc_held_fall(void) { atomic_fetch_sub(&held, 1); }
int jc_held_count(void) { return atomic_load(&held); }

struct dirent64_raw {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* is_lock says whether a path is that of a lock file: it ends in Suffix
 * (lockfile.go). If the file was removed, the kernel has added " (deleted)". */
static int is_lock(const char *path, long n)
{
	static const char gone[] = " (deleted)", suffix[] = ".jclock";
	long g = sizeof gone - 1, s = sizeof suffix - 1;
	if (n > g && memcmp(path + n - g, gone, (size_t)g) == 0)
		n -= g;
	return n > s && memcmp(path + n - s, suffix, (size_t)s) == 0;
}

static int number(const char *s)
{
	int n = 0;
	if (*s == 0)
		return -1;
	for (; *s != 0; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		n = 10 * n + (*s - '0');
	}
	return n;
}

/* each_lock calls fn for every descriptor that points to a lock file. */
static void each_lock(void (*fn)(int fd))
{
	long dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir < 0)
		return;
	_Alignas(8) char buf[4096];
	char link[4096 + 32];
	for (;;) {
		long n = syscall(SYS_getdents64, dir, buf, sizeof buf);
		if (n <= 0)
			break;
		for (long at = 0; at < n;) {
			const struct dirent64_raw *d = (const struct dirent64_raw *)(buf + at);
			at += d->reclen;
			int fd = number(d->name);
			if (fd < 0 || fd == dir)
				continue;
			long len = syscall(SYS_readlinkat, dir, d->name, link, sizeof link);
			if (len > 0 && is_lock(link, len))
				fn(fd);
		}
	}
	syscall(SYS_close, dir);
}

static void close_lock(int fd) { syscall(SYS_close, fd); }

/* The descriptor stays open, because Go's garbage collector may close it later. */
static void give_up_lock(int fd) { syscall(SYS_flock, fd, LOCK_UN); }

void jc_held_close(void)
{
	if (atomic_exchange(&held, 0) != 0)
		each_lock(close_lock);
}

void jc_held_give_up(void)
{
	if (atomic_load(&held) != 0)
		each_lock(give_up_lock);
}
