/* copy.c: a second copy of this library in the process.
 *
 * dlopen knows a file by the text of its path and by device and inode, so
 * neither a link nor the same path will do: the bytes go to a new file in
 * memory (memfd), or in the temp directory, and that is opened.
 *
 * Where do the bytes come from? The path may hold another version by now: after
 * an upgrade under a running process a child would silently run that one. So
 * the library opens its own file when it is loaded, and a copy is used only if
 * its build id is ours.
 */
#include "copy.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "controls.h"

#define MAX_ID 64

static int self_fd = -1;
static dev_t self_dev;
static ino_t self_ino;
static off_t self_size;
static char self_path[4096];

/* Files are looked at by system call: fstat is a symbol of its own only since
 * glibc 2.33, and the library is to load on 2.17. */
static int stat_fd(int fd, struct stat *st) { return (int)syscall(SYS_fstat, fd, st); }

void jc_library_open(void)
{
	Dl_info info;
	struct stat st;
	if (dladdr((const void *)&jitcache_private_core, &info) == 0 || info.dli_fname == NULL)
		return;
	/* A copy needs none: the first of a process makes all copies. */
	if (strncmp(info.dli_fname, "/proc/", 6) == 0)
		return;
	int fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
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
	snprintf(self_path, sizeof self_path, "%s", info.dli_fname);
}

const char *jc_library_path(void) { return self_path; }

static int is_self(int fd)
{
	struct stat st;
	if (fd < 0 || stat_fd(fd, &st) != 0)
		return 0;
	return (st.st_dev == self_dev && st.st_ino == self_ino && st.st_size == self_size) ||
	       JC_CONTROL == JC_NO_VERSION;
}

/* source returns a descriptor on our own file: the one from the start, unless
 * the host has closed it, else by path. *opened says that it is new. */
static int source(int *opened)
{
	*opened = 0;
	if (is_self(self_fd))
		return self_fd;
	if (JC_CONTROL == JC_NO_PATH)
		return -1;
	int fd = open(self_path, O_RDONLY | O_CLOEXEC);
	if (is_self(fd)) {
		*opened = 1;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* note_id finds the GNU build id among ELF notes and returns its length. */
static size_t note_id(const unsigned char *p, size_t n, unsigned char id[MAX_ID])
{
	while (n >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) h;
		memcpy(&h, p, sizeof h);
		size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3, desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name + desc > n - sizeof h)
			return 0;
		const unsigned char *at = p + sizeof h;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
			h.n_descsz <= MAX_ID) {
			memcpy(id, at + name, h.n_descsz);
			return h.n_descsz;
		}
		p = at + name + desc;
		n -= sizeof h + name + desc;
	}
	return 0;
}

struct own {
	size_t len;
	unsigned char id[MAX_ID];
};

/* The build id as it is mapped: that of the code that runs. */
static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct own *own = data;
	int here = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + p->p_vaddr, self = (uintptr_t)&jitcache_private_core;
		if (p->p_type == PT_LOAD && self >= low && self < low + p->p_memsz)
			here = 1;
	}
	for (int i = 0; here && i < info->dlpi_phnum && own->len == 0; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_NOTE)
			own->len = note_id((const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, own->id);
	}
	return here;
}

/* file_id reads the build id of an ELF file. */
static size_t file_id(int fd, unsigned char id[MAX_ID])
{
	ElfW(Ehdr) e;
	if (pread(fd, &e, sizeof e, 0) != sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	for (int i = 0; i < e.e_phnum; i++) {
		ElfW(Phdr) p;
		unsigned char notes[4096];
		if (pread(fd, &p, sizeof p, (off_t)(e.e_phoff + (size_t)i * sizeof p)) != sizeof p)
			return 0;
		if (p.p_type != PT_NOTE || p.p_filesz > sizeof notes)
			continue;
		if (pread(fd, notes, p.p_filesz, (off_t)p.p_offset) != (ssize_t)p.p_filesz)
			return 0;
		size_t len = note_id(notes, p.p_filesz, id);
		if (len > 0)
			return len;
	}
	return 0;
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

static int temp_file(char *path, size_t size)
{
	const char *dir = getenv("TMPDIR");
	snprintf(path, size, "%s/libjitcache-XXXXXX", dir != NULL && dir[0] == '/' ? dir : "/tmp");
	int fd = mkstemp(path);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/* The path of a descriptor, of a text that no ancestor of this process can have
 * used: dlopen would give it the copy that it knows by that text. Process ids
 * are used again in a long chain of forks, so each generation adds a dot. */
static void fd_path(char *path, size_t size, uint32_t generation, int fd)
{
	int n = snprintf(path, size, "/proc/%ld/fd/", (long)getpid());
	for (uint32_t i = 1; i < generation && (size_t)n + 16 < size; i++)
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
	struct own own = {0};
	unsigned char id[MAX_ID];
	dl_iterate_phdr(find_own, &own);
	if (!copy_bytes(from, fd)) {
		snprintf(why, size, "the library cannot be copied: %s", strerror(errno));
		return NULL;
	}
	size_t len = file_id(fd, id);
	int same = own.len > 0 && len == own.len && memcmp(id, own.id, len) == 0;
	if (!same && JC_CONTROL != JC_NO_VERSION) {
		snprintf(why, size, "the library's file is another version than the one that runs");
		return NULL;
	}
	return load(path, why, size);
}

/* has_space says whether a Go runtime can reserve what it must, 1.6 GB, under
 * ulimit -v. It ends the process if it cannot. */
static int has_space(void)
{
	const size_t need = (size_t)2 << 30;
	void *p = mmap(NULL, need, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p != MAP_FAILED && munmap(p, need) == 0;
}

/* may_write says whether a file may be as large as the library. A write beyond
 * ulimit -f would be answered with SIGXFSZ. */
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
	char path[8192];
	const jc_core *core = NULL;
	int fd = memory_file();
	if (fd >= 0) {
		fd_path(path, sizeof path, generation, fd);
		core = try_copy(from, fd, path, why, size);
		close(fd);
	}
	if (core == NULL && (fd = temp_file(path, sizeof path)) >= 0) {
		core = try_copy(from, fd, path, why, size);
		close(fd);
		unlink(path);
	}
	if (opened)
		close(from);
	return core;
}
