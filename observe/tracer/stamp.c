/* stamp.c: takes stamps, and reads contents and listings that may change. */
#include "stamp.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "report.h"

/* The kernel's struct statx. glibc before 2.28 does not have it, and most headers lack the id of
 * the mount. */
struct moment {
	int64_t seconds;
	uint32_t nanoseconds;
	int32_t unused;
};
struct seen {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, unused;
	uint64_t ino, size, blocks, attributes_mask;
	struct moment atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint64_t more[13];
};
#define BASIC_STATS 0x07ff
#define MNT_ID_UNIQUE 0x4000 /* Linux 6.8: an id that no mount has had before */

static int64_t nanoseconds(int64_t seconds, uint32_t rest) { return seconds * INT64_C(1000000000) + rest; }

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return nanoseconds(t.tv_sec, (uint32_t)t.tv_nsec);
}

/* Kernels before 4.11 have no statx, and the filters of some containers refuse it. */
static int plain_stat(const char *path, jo_stamp *stamp)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno;
	stamp->dev = st.st_dev;
	stamp->ino = st.st_ino;
	stamp->size = (uint64_t)st.st_size;
	stamp->mode = st.st_mode;
	stamp->mtime = nanoseconds(st.st_mtim.tv_sec, (uint32_t)st.st_mtim.tv_nsec);
	stamp->ctime = nanoseconds(st.st_ctim.tv_sec, (uint32_t)st.st_ctim.tv_nsec);
	return 0;
}

void jo_stamp_take(const char *path, jo_stamp *stamp)
{
	struct seen st;
	memset(stamp, 0, sizeof *stamp);
	stamp->taken = now();
	if (syscall(SYS_statx, AT_FDCWD, path, 0, BASIC_STATS | MNT_ID_UNIQUE, &st) != 0) {
		stamp->error = errno == ENOSYS || errno == EPERM ? plain_stat(path, stamp) : errno;
		return;
	}
	stamp->dev = makedev(st.dev_major, st.dev_minor);
	stamp->ino = st.ino;
	stamp->size = st.size;
	stamp->mode = st.mode;
	stamp->mtime = nanoseconds(st.mtime.seconds, st.mtime.nanoseconds);
	stamp->ctime = nanoseconds(st.ctime.seconds, st.ctime.nanoseconds);
	stamp->mount = st.mask & MNT_ID_UNIQUE ? st.mnt_id : 0;
}

/* File systems (linux/magic.h) whose time stamps prove something: the kernel or a server sets the
 * time of a change, or, for images and layers, nothing changes while they are mounted. Nothing is
 * known about any other file system. */
static const uint32_t vouching[] = {
	0xef53,     /* ext */
	0x58465342, /* xfs */
	0x9123683e, /* btrfs */
	0x2fc12fc1, /* zfs */
	0xf2f52010, /* f2fs */
	0xca451a4e, /* bcachefs */
	0x01021994, /* tmpfs */
	0x858458f6, /* ramfs */
	0x794c7630, /* overlay */
	0x73717368, /* squashfs */
	0xe0f5e1e2, /* erofs */
	0x9660,     /* iso9660 */
	0x6969,     /* nfs */
	0x0bd00bd0, /* lustre */
	0x47504653, /* gpfs */
};

static int is_vouching(uint32_t type)
{
	for (size_t i = 0; i < sizeof vouching / sizeof *vouching; i++)
		if (vouching[i] == type)
			return 1;
	return 0;
}

/* vouched reports whether the time stamps of a device prove anything. */
static int vouched(const char *path, uint64_t dev)
{
	static struct {
		uint64_t dev;
		int yes;
	} known[32];
	static int n;
	for (int i = 0; i < n; i++)
		if (known[i].dev == dev)
			return known[i].yes;
	struct statfs fs;
	int yes = statfs(path, &fs) == 0 && is_vouching((uint32_t)fs.f_type);
	if (n < 32) {
		known[n].dev = dev;
		known[n++].yes = yes;
	}
	return yes;
}

/* The same as FineTick and coarseTick of core/stamp/stamp.go, which explains the numbers. */
#define FINE_TICK INT64_C(50000000)
#define COARSE_TICK INT64_C(2000000000)

static int too_fresh(const jo_stamp *s)
{
	int64_t last = s->mtime > s->ctime ? s->mtime : s->ctime;
	int whole = s->mtime % 1000000000 == 0 && s->ctime % 1000000000 == 0;
	return last > s->taken - (whole ? COARSE_TICK : FINE_TICK);
}

/* A file up to this size is sent if its file system does not vouch for time stamps. A larger one
 * is read after the tree has ended, if its stamp is the same then. */
#define UNVOUCHED (UINT64_C(1) << 20)

/* A fresh file up to this size is sent. */
#define MOST (UINT64_C(64) << 20)

int jo_stamp_doubtful(const char *path, const jo_stamp *s)
{
	return too_fresh(s) || (s->size <= UNVOUCHED && !vouched(path, s->dev));
}

/* send_all sends a file for which stat gives no size, as in /proc. */
static int send_all(int fd, const char *path)
{
	static char buffer[1 << 20];
	size_t n = 0;
	for (ssize_t got; n < sizeof buffer && (got = read(fd, buffer + n, sizeof buffer - n)) != 0;) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		n += (size_t)got;
	}
	if (n == sizeof buffer)
		return EFBIG;
	jo_report_begin(JO_CONTENT);
	jo_report_string(path, strlen(path));
	jo_report_string(buffer, n);
	jo_report_end();
	return 0;
}

int jo_stamp_send(const char *path, uint64_t size)
{
	if (size > MOST)
		return EFBIG;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = 0;
	if (fd < 0)
		return errno;
	if (size == 0) {
		error = send_all(fd, path);
	} else {
		jo_report_begin(JO_CONTENT);
		jo_report_string(path, strlen(path));
		jo_report_u32((uint32_t)size);
		jo_report_copy(fd, size);
	}
	close(fd);
	return error;
}

/* type_of returns what a listing adds to a name to tell its type: nothing for a regular file,
 * else a slash, which no name contains, and a letter. */
static const char *type_of(DIR *d, const struct dirent *e)
{
	struct stat st;
	unsigned type = JO_WITHOUT(TYPES) ? DT_REG : e->d_type;
	if (type == DT_UNKNOWN && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(st.st_mode);
	switch (type) {
	case DT_REG: return "";
	case DT_DIR: return "/d";
	case DT_LNK: return "/l";
	case DT_FIFO: return "/p";
	case DT_SOCK: return "/s";
	case DT_CHR: return "/c";
	case DT_BLK: return "/b";
	default: return "/o";
	}
}

int jo_stamp_send_names(const char *path)
{
	DIR *d = opendir(path);
	if (d == NULL)
		return 0;
	jo_report_begin(JO_LISTING);
	jo_report_string(path, strlen(path));
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		char entry[sizeof e->d_name + 2];
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		const char *type = type_of(d, e);
		jo_report_string(entry, (size_t)snprintf(entry, sizeof entry, "%s%s", e->d_name, type));
	}
	jo_report_end();
	closedir(d);
	return 1;
}
