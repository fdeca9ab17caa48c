/* stale_temp_files.c: a lock on a file shows that the file's process still runs. A process id
 * would not: ids are reused, and in another container the same id is another process. */
#include "stale_temp_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "controls.h"

/* A file that is younger, in seconds, may not be locked yet. A process locks it
 * microseconds after it has made it. */
enum { YOUNG = 60 };

/* A sweep looks at this many names at most, because a temp directory may have any
 * number of files. It takes three milliseconds. */
enum { MOST_NAMES = 10000 };

const char *jc_temp_folder(void)
{
	const char *temp = secure_getenv("TMPDIR");
	return temp != NULL && temp[0] == '/' ? temp : "/tmp";
}

void jc_leftover_lock(int fd) { flock(fd, LOCK_EX | LOCK_NB); }

/* is_left says whether fd is a leftover, and name still leads to it. */
static int is_left(int parent, const char *name, int fd)
{
	struct stat st, now;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       (time(NULL) - st.st_mtime >= YOUNG || st.st_mtime - time(NULL) >= YOUNG) &&
	       (flock(fd, LOCK_EX | LOCK_NB) == 0 || JC_CONTROL == JC_SWEEPS_ALL) &&
	       fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st.st_dev &&
	       now.st_ino == st.st_ino;
}

static void sweep(int parent, const char *name)
{
	struct stat st;
	/* Opening a device or a pipe might have an effect. */
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return;
	int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_left(parent, name, fd))
		unlinkat(parent, name, 0);
	close(fd);
}

void jc_leftovers_sweep(const char *folder, const char *prefix)
{
	DIR *d = JC_CONTROL != JC_NO_SWEEP ? opendir(folder) : NULL;
	int n = 0;
	for (struct dirent *e; d != NULL && n < MOST_NAMES && (e = readdir(d)) != NULL; n++)
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			sweep(dirfd(d), e->d_name);
	if (d != NULL)
		closedir(d);
}
