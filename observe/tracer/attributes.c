/* attributes.c: digests of the names of attributes, as record computes them. */
#include "attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "calls.h"

/* linux/limits.h: XATTR_LIST_MAX; linux/fs.h: FS_FL_USER_MODIFIABLE. The file
 * system sets the other flags, for example for how it stores the file. */
enum { NAMES = 65536, SETTABLE = 0x000380ff };

uint32_t jo_attributes(const char *path, int follow)
{
	static char all[NAMES];
	ssize_t n = follow ? listxattr(path, all, sizeof all) : llistxattr(path, all, sizeof all);
	uint32_t sum = 2166136261u; /* FNV-1a */
	int some = 0;
	for (ssize_t at = 0; at < n;) {
		size_t size = strlen(all + at) + 1;
		for (size_t i = 0; i < size && strcmp(all + at, "security.selinux") != 0; i++) {
			sum = (sum ^ (uint8_t)all[at + (ssize_t)i]) * 16777619u;
			some = 1;
		}
		at += (ssize_t)size;
	}
	return some ? sum | 1 : 0;
}

uint32_t jo_mounted(const char *path)
{
	struct statvfs st;
	return statvfs(path, &st) == 0 ? (uint32_t)st.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC) : 0;
}

uint32_t jo_flags(const char *path)
{
	long flags = 0;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return (uint32_t)errno << 24;
	if (ioctl(fd, JO_GET_FLAGS, &flags) != 0)
		flags = 0; /* a file system without flags */
	close(fd);
	return (uint32_t)flags & SETTABLE;
}
