/* Scenes about what changes files. The folder has: f and g, files; sub/f; link, to f. */
#include "scene.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static struct stat st;
static char text[256];

static int writes(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | flags, 0600);
	if (fd >= 0)
		must(write(fd, "x", 1) == 1 && close(fd) == 0);
	return fd;
}

static int reads(const char *path)
{
	int fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd;
}

static void by_a_descriptor_that_only_reads(void)
{
	int fd = open("f", O_RDONLY), other = open("g", O_RDONLY);
	must(fchmod(fd, 0640) == 0);
	must(futimens(other, NULL) == 0);
	must(fchown(open("sub/f", O_RDONLY), getuid(), getgid()) == 0);
}

static void by_an_empty_path(void) { must(fchownat(open("f", O_PATH), "", getuid(), getgid(), AT_EMPTY_PATH) == 0); }

static void through_own_link(void)
{
	must(symlink("f", "own") == 0 && chmod("own", 0640) == 0);
	must(symlink("g", "too") == 0 && truncate("too", 0) == 0);
}

static void link_itself(void)
{
	must(symlink("f", "own") == 0);
	must(lchown("own", getuid(), getgid()) == 0);
	must(utimensat(AT_FDCWD, "own", NULL, AT_SYMLINK_NOFOLLOW) == 0);
}

static void what_exists_already(void)
{
	fails(open("f", O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST);
	fails(open("g", O_CREAT | O_EXCL | O_TRUNC | O_WRONLY, 0600), EEXIST);
	fails(mkdir("sub", 0700), EEXIST);
	fails(syscall(SYS_renameat2, AT_FDCWD, "f", AT_FDCWD, "link", 1 /* RENAME_NOREPLACE */), EEXIST);
}

static void what_is_not_there(void)
{
	fails(chmod("none", 0600), ENOENT);
	fails(unlink("nothing"), ENOENT);
	fails(rename("nobody", "f"), ENOENT);
	fails(open("nowhere/f", O_CREAT | O_WRONLY, 0600), ENOENT);
	fails(open("nofolder", O_TMPFILE | O_RDWR, 0600), ENOENT);
	fails(rmdir("f"), ENOTDIR);
}

static void nameless_then_linked(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	must(fd >= 0 && write(fd, "x", 1) == 1);
	snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
	must(linkat(AT_FDCWD, text, AT_FDCWD, "out", AT_SYMLINK_FOLLOW) == 0);
	must(reads("out") >= 0);
}

static void exchanged(void)
{
	must(syscall(SYS_renameat2, AT_FDCWD, "f", AT_FDCWD, "g", 2 /* RENAME_EXCHANGE */) == 0);
}

static void own_folder_renamed(void)
{
	must(mkdir("a", 0700) == 0 && mkdir("a/deep", 0700) == 0);
	must(writes("a/h", O_CREAT) >= 0 && writes("a/deep/h", O_CREAT) >= 0);
	must(rename("a", "b") == 0);
	must(reads("b/h") >= 0 && reads("b/deep/h") >= 0);
	fails(reads("a/h"), ENOENT);
}

static void linked(void)
{
	must(link("f", "twin") == 0);
	must(reads("twin") >= 0);
}

static void looked_at_replaced_and_read_back(void)
{
	must(stat("f", &st) == 0);
	must(writes("new", O_CREAT) >= 0 && rename("new", "f") == 0);
	must(reads("f") >= 0);
	must(lstat("f", &st) == 0);
	must(access("g", F_OK) == 0 && unlink("g") == 0);
	fails(reads("g"), ENOENT);
}

static void their_link_to_own_file(void)
{
	must(unlink("f") == 0 && writes("f", O_CREAT) >= 0);
	must(reads("link") >= 0);
	must(readlink("link", text, sizeof text) == 1);
}

static void in_place(void)
{
	must(writes("f", O_APPEND) >= 0);
	must(writes("g", O_TRUNC) >= 0);
	must(writes("link", 0) >= 0);
}

static void made_and_gone(void)
{
	must(mkdir("tmp", 0700) == 0 && writes("tmp/h", O_CREAT) >= 0);
	must(unlink("tmp/h") == 0 && rmdir("tmp") == 0);
	must(mkfifo("pipe", 0600) == 0 && unlink("pipe") == 0);
}

static void through_a_descriptors_name(void)
{
	int fd = open("f", O_RDONLY);
	snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
	must(writes(text, 0) >= 0);
	must((fd = open("/proc/self/oom_score_adj", O_WRONLY)) >= 0 && write(fd, "0", 1) == 1);
}

static void standard_output_opened_again(void)
{
	must(write(1, "one\n", 4) == 4);
	int fd = open("/dev/stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, "two\n", 4) == 4);
	must(write(1, "three\n", 6) == 6);
	must(write(fd, "four\n", 5) == 5);
}

/* As a user that may not: the folder is somebody else's. */
static void denied(void)
{
	must(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	fails(open("out", O_CREAT | O_WRONLY, 0600), EACCES);
	fails(open("f", O_TRUNC | O_WRONLY), EACCES);
	fails(unlink("f"), EACCES);
	fails(chmod("f", 0666), EPERM);
}

static const scene scenes[] = {
	{"by_a_descriptor_that_only_reads", by_a_descriptor_that_only_reads},
	{"by_an_empty_path", by_an_empty_path},
	{"through_own_link", through_own_link},
	{"link_itself", link_itself},
	{"what_exists_already", what_exists_already},
	{"what_is_not_there", what_is_not_there},
	{"nameless_then_linked", nameless_then_linked},
	{"exchanged", exchanged},
	{"own_folder_renamed", own_folder_renamed},
	{"linked", linked},
	{"looked_at_replaced_and_read_back", looked_at_replaced_and_read_back},
	{"their_link_to_own_file", their_link_to_own_file},
	{"in_place", in_place},
	{"made_and_gone", made_and_gone},
	{"through_a_descriptors_name", through_a_descriptors_name},
	{"standard_output_opened_again", standard_output_opened_again},
	{"denied", denied},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
