/* entry.c: opening the file of an entry, in the own directory or a layer. If a program's
 * cache is empty, most of its lookups end here, with one system call for each directory
 * and no call into Go. core/store/read.go opens files in the same way, and has the
 * reasons for each flag. */
#include "entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bytes.h"
#include "controls.h"

/* openat2 came with Linux 5.6; the system's headers may be older. */
#define OPENAT2 437
#define NO_SYMLINKS 0x04
struct how {
	uint64_t flags, mode, resolve;
};

static const char suffix[] = ".jce";

/* Set if there is no openat2, or a filter refuses it. Then the core opens the files. */
static _Atomic int refused;

static int open_at(const char *path)
{
	static const struct how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, .resolve = NO_SYMLINKS};
	int hosts = errno, fd = (int)syscall(OPENAT2, AT_FDCWD, path, &how, sizeof how);
	if (fd < 0)
		fd = -errno;
	if (fd == -ENOSYS || fd == -EPERM)
		atomic_store_explicit(&refused, 1, memory_order_relaxed);
	errno = hosts;
	return fd;
}

void jc_entry_open(const char *paths, const uint8_t id[32], jc_file *file)
{
	char text[4096];
	file->fd = -ENOSYS;
	if (atomic_load_explicit(&refused, memory_order_relaxed))
		return;
	/* The directory's path, the key's first byte, a slash, its other bytes, the suffix. */
	char *name = text + sizeof text - 65 - sizeof suffix;
	jc_hex(name + 1, id, 32);
	name[0] = name[1];
	name[1] = name[2];
	name[2] = '/';
	memcpy(name + 65, suffix, sizeof suffix);
	for (size_t n; (n = strlen(paths)) > 0; paths += n + 1) {
		file->fd = -ENAMETOOLONG;
		if (n > (size_t)(name - text))
			return;
		memcpy(name - n, paths, n);
		file->fd = open_at(name - n);
		file->in = paths;
		file->nin = (uint32_t)n;
		if (file->fd != -ENOENT || JC_CONTROL == JC_NO_LAYERS)
			return;
	}
}
