/* real.c: follows links, as the process that uses a path would. */
#include "real.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "table.h"

int jo_real_end(const char *path, int flags, char *into)
{
	char link[64];
	int fd = open(path, O_PATH | O_CLOEXEC | flags);
	if (fd < 0)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, into, JO_PATH - 1);
	close(fd);
	if (n < 0 || n == JO_PATH - 1 || into[0] != '/')
		return 0;
	into[n] = 0;
	return 1;
}

/* Folders and where they really are: a compile looks for many names in few folders. */
enum { KNOWN = 512 };
static struct {
	char *folder, *real;
} known[KNOWN];

static int unsettled; /* the tree has renamed or removed a folder */

int jo_real_unsettled(void) { return unsettled; }

void jo_real_moved(int folder)
{
	unsettled |= folder;
	for (int i = 0; i < KNOWN; i++) {
		free(known[i].folder);
		free(known[i].real);
		known[i].folder = known[i].real = NULL;
	}
}

static const char *real_folder(const char *folder)
{
	static char buffer[JO_PATH];
	uint32_t h = jo_hash(folder) % KNOWN;
	if (known[h].folder != NULL && strcmp(known[h].folder, folder) == 0)
		return known[h].real;
	if (!jo_real_end(*folder == 0 ? "/" : folder, O_DIRECTORY, buffer))
		return NULL;
	free(known[h].folder);
	free(known[h].real);
	known[h].folder = strdup(folder);
	known[h].real = strdup(buffer);
	return known[h].folder != NULL ? known[h].real : NULL;
}

const char *jo_real(const char *path)
{
	static char buffer[JO_PATH];
	char folder[JO_PATH];
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t slash = n;
	while (slash > 0 && path[slash - 1] != '/')
		slash--;
	const char *base = path + slash;
	size_t nbase = n - slash;
	if (slash == 0 || n >= JO_PATH)
		return NULL;
	if (nbase == 0 || (nbase == 1 && base[0] == '.') || (nbase == 2 && base[0] == '.' && base[1] == '.'))
		return jo_real_end(path, 0, buffer) ? buffer : NULL;
	memcpy(folder, path, slash - 1);
	folder[slash - 1] = 0;
	const char *real = real_folder(folder);
	if (real == NULL ||
		snprintf(buffer, sizeof buffer, "%s/%.*s", real[1] == 0 ? "" : real, (int)nbase, base) >= JO_PATH)
		return NULL;
	return buffer;
}

unsigned jo_real_type(const char *path, int follow)
{
	struct stat st;
	return (follow ? stat(path, &st) : lstat(path, &st)) == 0 ? st.st_mode & S_IFMT : 0;
}

int jo_real_tells(const char *path)
{
	char end[JO_PATH], own[64];
	int n = snprintf(own, sizeof own, "/proc/%d/", (int)getpid());
	return jo_real_end(path, 0, end) && strncmp(end, own, (size_t)n) == 0;
}

int jo_real_mounts(const char *rest)
{
	rest += strspn(rest, "/");
	return strcmp(rest, "mounts") == 0 || strcmp(rest, "mountinfo") == 0;
}

int jo_real_follows(const char *rest)
{
	static const char *const all[] = {"attr", "auxv", "cgroup", "clear_refs", "cmdline", "comm", "cwd", "environ",
		"exe", "fd", "fdinfo", "gid_map", "limits", "map_files", "maps", "mem", "mountstats", "numa_maps",
		"oom_adj", "oom_score", "oom_score_adj", "pagemap", "root", "setgroups", "smaps", "smaps_rollup",
		"stat", "statm", "status", "task", "uid_map"};
	rest += strspn(rest, "/");
	size_t n = strcspn(rest, "/");
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (n == strlen(all[i]) && strncmp(rest, all[i], n) == 0)
			return 1;
	return n == 0 || JO_WITHOUT(PROC);
}
