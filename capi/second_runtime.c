/* second_runtime.c: a second copy of this library in the process.
 *
 * dlopen recognises a library by the text of its path, and by device and inode. So
 * neither the same path nor a link to the file gives a second copy. The bytes go
 * to a new file in memory (memfd), or in the temp directory, and dlopen opens that.
 * A copy recognises itself by its path.
 *
 * After an upgrade the library's path leads to another version, which a child must
 * not run. So the library opens its own file when it is loaded, and a copy is used
 * only if its build id is ours.
 */
#include "second_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "build_id.h"
#include "controls.h"
#include "stale_temp_files.h"

/* Parts of a copy's path, in /proc/PID/fd and in the temp directory. No host gives
 * a library such a path. */
#define MARK "/fd/./"
#define PREFIX "jitcache-copy-"

static int self_fd = -1;
static dev_t self_dev;
static ino_t self_ino;
static off_t self_size;
static char self_path[4096];

/* stat_fd is fstat by its system call. glibc has had the symbol fstat only since 2.33,
 * and the library must load with 2.17. */
static int stat_fd(int fd, struct stat *st) { return (int)syscall(SYS_fstat, fd, st); }

/* loaded_from returns this library's path as the loader knows it, NULL if that is
 * unknown. */
static const char *loaded_from(void)
{
	Dl_info info;
	return dladdr((const void *)&jitcache_private_core, &info) != 0 ? info.dli_fname : NULL;
}

int jc_library_is_copy(void)
{
	const char *path = loaded_from();
	return path != NULL && (strstr(path, MARK) != NULL || strstr(path, "/" PREFIX) != NULL);
}

void jc_library_open(void)
{
	struct stat st;
	const char *path = loaded_from();
	/* A copy does not need its file: the process's first library makes all copies. */
	if (path == NULL || jc_library_is_copy())
		return;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (stat_fd(fd, &st) != 0) {
		close(fd);
		return;
	}
	self_fd = JC_CONTROL != JC_NO_OWN_FILE ? fd : -1;
	self_dev = st.st_dev;
	self_ino = st.st_ino;
	self_size = st.st_size;
	snprintf(self_path, sizeof self_path, "%s", path);
}

const char *jc_library_path(void) { return self_path; }

static int is_self(int fd)
{
	struct stat st;
	if (fd < 0 || stat_fd(fd, &st) != 0)
		return 0;
	return st.st_dev == self_dev && st.st_ino == self_ino && st.st_size == self_size;
}

/* source returns a descriptor of our own file. It is the one that was opened at the
 * start; if the host has closed that, the file is opened again by its path, and
 * *opened is 1. */
static int source(int *opened)
{
	*opened = 0;
	if (is_self(self_fd))
		return self_fd;
	if (JC_CONTROL == JC_NO_PATH)
		return -1;
	int fd = open(self_path, O_RDONLY | O_CLOEXEC);
	if (is_self(fd) || (fd >= 0 && JC_CONTROL == JC_NO_VERSION)) {
		*opened = 1;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int copy_bytes(int from, int to)
{
	enum { STEP = 1 << 16 };
	char *buf = malloc(STEP);
	off_t at = 0;
	while (buf != NULL && at < self_size) {
		ssize_t n = pread(from, buf, STEP, at);
		if (n <= 0)
			break;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = write(to, buf + done, (size_t)(n - done));
			if (w < 0 && errno == EINTR)
				continue;
			if (w <= 0)
				goto out;
			done += w;
		}
		at += n;
	}
out:
	free(buf);
	return at == self_size;
}

static int memory_file(void)
{
	enum { CLOEXEC = 1, EXEC = 0x10 };
	long fd = syscall(SYS_memfd_create, "jitcache", CLOEXEC | EXEC);
	if (fd < 0) /* before Linux 6.3 */
		fd = syscall(SYS_memfd_create, "jitcache", CLOEXEC);
	return (int)fd;
}

/* nameless_file makes a file without a name in the temp directory. It is gone when it
 * is closed, however this process ends. */
static int nameless_file(const char *temp)
{
	char path[4096];
	int fd = open(temp, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system has O_TMPFILE. */
	snprintf(path, sizeof path, "%s/" PREFIX "XXXXXX", temp);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* named_file makes a file with a name. If this process is killed, the file stays
 * until another process makes such a file and removes it (stale_temp_files.c). */
static int named_file(const char *temp, char *path, size_t size)
{
	jc_leftovers_sweep(temp, PREFIX);
	snprintf(path, size, "%s/" PREFIX "XXXXXX", temp);
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		jc_leftover_lock(fd);
	return fd;
}

/* fd_path writes a path of a descriptor that no ancestor of this process can have
 * used: dlopen would return the ancestor's copy for the same text. Process ids are
 * reused in a long chain of forks, so each generation adds a dot. */
static void fd_path(char *path, size_t size, uint32_t generation, int fd)
{
	int n = snprintf(path, size, "/proc/%ld" MARK, (long)getpid());
	for (uint32_t i = 2; i < generation && (size_t)n + 16 < size; i++)
		n += snprintf(path + n, size - (size_t)n, "./");
	snprintf(path + n, size - (size_t)n, "%d", fd);
}

static const jc_core *load(const char *path, char *why, size_t size)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		snprintf(why, size, "%s", dlerror());
		return NULL;
	}
	const jc_core *core = dlsym(library, "jitcache_private_core");
	if (core == NULL || core == &jitcache_private_core || core->size != sizeof *core) {
		snprintf(why, size, "the copy is not this library");
		return NULL;
	}
	return core;
}

/* try_copy makes a copy in the file fd, which is at path, and loads it. */
static const jc_core *try_copy(int from, int fd, const char *path, char *why, size_t size)
{
	if (!copy_bytes(from, fd)) {
		snprintf(why, size, "the library cannot be copied: %s", strerror(errno));
		return NULL;
	}
	if (!jc_build_id_is_own(fd) && JC_CONTROL != JC_NO_VERSION) {
		snprintf(why, size, "the library's file is another version than the one that runs");
		return NULL;
	}
	return load(path, why, size);
}

/* copy_without_name makes a copy in fd, which it closes. */
static const jc_core *copy_without_name(int from, int fd, uint32_t generation, char *why, size_t size)
{
	char path[8192];
	if (fd < 0)
		return NULL;
	fd_path(path, sizeof path, generation, fd);
	const jc_core *core = try_copy(from, fd, path, why, size);
	close(fd);
	return core;
}

/* copy_with_name is for a process that has no /proc, or may not open the files in
 * its own /proc/PID/fd. */
static const jc_core *copy_with_name(int from, char *why, size_t size)
{
	char path[4096];
	int fd = named_file(jc_temp_folder(), path, sizeof path);
	if (fd < 0)
		return NULL;
	const jc_core *core = try_copy(from, fd, path, why, size);
	unlink(path);
	close(fd);
	return core;
}

/* has_space says whether ulimit -v lets a Go runtime reserve the 1.6 GB that it needs. A
 * runtime that cannot would end the process. */
static int has_space(void)
{
	const size_t need = (size_t)2 << 30;
	void *p = mmap(NULL, need, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p != MAP_FAILED && munmap(p, need) == 0;
}

/* may_write says whether a file may be as large as the library. A write beyond ulimit -f
 * would raise SIGXFSZ. */
static int may_write(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= (rlim_t)self_size;
}

const jc_core *jc_library_copy(uint32_t generation, char *why, size_t size)
{
	int opened;
	char low = !has_space() ? 'v' : !may_write() ? 'f' : 0;
	if (JC_CONTROL != JC_NO_LIMITS && low != 0) {
		snprintf(why, size, "ulimit -%c is too low", low);
		return NULL;
	}
	if (JC_CONTROL == JC_SLOW_COPY)
		usleep(250000);
	int from = source(&opened);
	if (from < 0) {
		snprintf(why, size, "the library's own file is gone");
		return NULL;
	}
	snprintf(why, size, "there is no place for a copy of the library");
	const jc_core *core = copy_without_name(from, memory_file(), generation, why, size);
	if (core == NULL)
		core = copy_without_name(from, nameless_file(jc_temp_folder()), generation, why, size);
	if (core == NULL)
		core = copy_with_name(from, why, size);
	if (opened)
		close(from);
	return core;
}
