/* Scenes about what a path means. The folder has: f, a file; sub/f; link, to sub; way, to
 * link; loop, to itself; tells, to /proc/self/status. */
#include "scene.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char text[PATH_MAX + 1];
static struct stat st;

static int reads(int folder, const char *path)
{
	int fd = openat(folder, path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd;
}

static void folder_opened_with_o_path(void)
{
	int fd = open("link", O_PATH | O_DIRECTORY);
	must(fd >= 0);
	must(reads(fd, "f") >= 0);
	fails(reads(fd, "none"), ENOENT);
}

static void folder_of_two_names(void)
{
	int a = open("way", O_RDONLY | O_DIRECTORY), b = open("sub", O_RDONLY | O_DIRECTORY);
	must(a >= 0 && b >= 0);
	must(reads(a, "f") >= 0);
}

static void descriptors_by_name(void)
{
	int folder = open("sub", O_PATH), file = open("f", O_PATH);
	must(folder >= 0 && file >= 0);
	snprintf(text, sizeof text, "/proc/self/fd/%d/f", folder);
	must(reads(AT_FDCWD, text) >= 0);
	snprintf(text, sizeof text, "/dev/fd/%d", file);
	must(reads(AT_FDCWD, text) >= 0);
}

static void own_folder_by_name(void)
{
	must(reads(AT_FDCWD, "/proc/self/cwd/f") >= 0);
	must(reads(AT_FDCWD, "/proc/self/cwd/link/../f") >= 0);
	snprintf(text, sizeof text, "/proc/thread-self/%s/etc/passwd", "root");
	must(reads(AT_FDCWD, text) >= 0);
}

static void own_program(void) { must(readlink("/proc/self/exe", text, sizeof text) > 0); }

static void own_memory(void) { must(reads(AT_FDCWD, "/proc/self/maps") >= 0); }

static void own_descriptor(void)
{
	char path[64];
	int fd = open("way/f", O_RDONLY);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	must(readlink(path, text, sizeof text) > 0);
}

static void own_folder(void) { must(getcwd(text, sizeof text) != NULL); }

static void entered_folder(void)
{
	must(chdir("sub") == 0);
	own_folder();
}

static void entered_by_whole_path(void)
{
	own_folder();
	strcat(text, "/sub");
	must(chdir(text) == 0 && readlink("/proc/self/cwd", text, sizeof text) > 0);
}

static void dots_and_slashes(void)
{
	must(reads(AT_FDCWD, "./sub/../f") >= 0);
	must(reads(AT_FDCWD, "way/../f") >= 0); /* sub's parent */
	must(stat("sub//f", &st) == 0);
	fails(reads(AT_FDCWD, "f/"), ENOTDIR);
	fails(reads(AT_FDCWD, "f/none"), ENOTDIR);
	fails(reads(AT_FDCWD, ""), ENOENT);
	fails(stat("", &st), ENOENT);
	must(syscall(SYS_newfstatat, open("f", O_RDONLY), "", &st, AT_EMPTY_PATH) == 0);
}

static void folder_that_goes(void)
{
	must(mkdir("made", 0700) == 0 && chdir("made") == 0 && rmdir("../made") == 0);
	fails(reads(AT_FDCWD, "f"), ENOENT);
	must(stat(".", &st) == 0);
	must(reads(AT_FDCWD, "../f") >= 0);
}

static void own_folder_renamed(void)
{
	must(mkdir("made", 0700) == 0 && chdir("made") == 0);
	must(close(open("g", O_CREAT | O_WRONLY, 0600)) == 0);
	must(rename("../made", "../other") == 0);
	must(reads(AT_FDCWD, "g") >= 0);
	must(access("g", R_OK) == 0 && stat("./g", &st) == 0);
	must(reads(AT_FDCWD, "../f") >= 0);
}

static void their_folder_renamed(void)
{
	int fd = open("sub", O_RDONLY | O_DIRECTORY);
	must(chdir("sub") == 0 && rename("../sub", "../other") == 0);
	must(reads(AT_FDCWD, "f") >= 0 && reads(fd, "f") >= 0);
	fails(reads(AT_FDCWD, "../sub/f"), ENOENT);
}

static void loop(void) { fails(reads(AT_FDCWD, "loop"), ELOOP); }

static void long_names(void)
{
	static char name[5001];
	memset(name, 'x', 256);
	fails(reads(AT_FDCWD, name), ENAMETOOLONG);
	for (size_t i = 0; i < sizeof name - 1; i++)
		name[i] = i % 200 == 199 ? '/' : 'y';
	fails(reads(AT_FDCWD, name), ENAMETOOLONG);
}

static void deep_folder(void)
{
	char name[201] = {0};
	memset(name, 'z', sizeof name - 1);
	for (int i = 0; i < 25; i++)
		must(mkdir(name, 0700) == 0 && chdir(name) == 0);
	must(close(open("g", O_CREAT | O_WRONLY, 0600)) == 0);
	must(reads(AT_FDCWD, "g") >= 0);
}

static void any_bytes(void)
{
	must(reads(AT_FDCWD, "new\nline") >= 0);
	must(reads(AT_FDCWD, "\xff\xfe\x80") >= 0);
	fails(reads(AT_FDCWD, "\xc3("), ENOENT);
}

static void proc_in_other_spellings(void)
{
	must(reads(AT_FDCWD, "/proc//self/status") >= 0);
	must(reads(AT_FDCWD, "//proc/./self/maps") >= 0);
	must(reads(AT_FDCWD, "/proc/self/../self/stat") >= 0);
	must(reads(AT_FDCWD, "/proc//version") >= 0);
	must(reads(AT_FDCWD, "tells") >= 0);
	must(chdir("/proc") == 0 && reads(AT_FDCWD, "self/limits") >= 0);
}

static void link_itself(void)
{
	must(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
	must(readlink("way", text, sizeof text) == 4);
	fails(open("link", O_RDONLY | O_NOFOLLOW), ELOOP);
	fails(readlink("f", text, sizeof text), EINVAL);
	fails(readlink("none", text, sizeof text), ENOENT);
	must(readlinkat(open("way", O_PATH | O_NOFOLLOW), "", text, sizeof text) == 4);
}

static void through_folder_and_back(void)
{
	int fd;
	must(chdir("way") == 0);
	must(reads(AT_FDCWD, "f") >= 0);
	must((fd = open("..", O_RDONLY)) >= 0);
	must(fchdir(fd) == 0);
	must(reads(AT_FDCWD, "f") >= 0);
}

/* As a user that may not: denied, a file; closed, a folder with f in it. */
static void denied(void)
{
	must(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	fails(reads(AT_FDCWD, "denied"), EACCES);
	must(stat("denied", &st) == 0);
	fails(access("denied", R_OK), EACCES);
	fails(reads(AT_FDCWD, "closed/f"), EACCES);
	fails(stat("closed/none", &st), EACCES);
	fails(open("closed", O_RDONLY | O_DIRECTORY), EACCES);
}

static const scene scenes[] = {
	{"folder_opened_with_o_path", folder_opened_with_o_path},
	{"folder_of_two_names", folder_of_two_names},
	{"descriptors_by_name", descriptors_by_name},
	{"own_folder_by_name", own_folder_by_name},
	{"own_program", own_program},
	{"own_memory", own_memory},
	{"own_descriptor", own_descriptor},
	{"own_folder", own_folder},
	{"entered_folder", entered_folder},
	{"entered_by_whole_path", entered_by_whole_path},
	{"dots_and_slashes", dots_and_slashes},
	{"folder_that_goes", folder_that_goes},
	{"own_folder_renamed", own_folder_renamed},
	{"their_folder_renamed", their_folder_renamed},
	{"loop", loop},
	{"long_names", long_names},
	{"deep_folder", deep_folder},
	{"any_bytes", any_bytes},
	{"proc_in_other_spellings", proc_in_other_spellings},
	{"link_itself", link_itself},
	{"through_folder_and_back", through_folder_and_back},
	{"denied", denied},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
