/* Scenes about calls, and about processes and threads that make them. The folder has: f, a
 * file with x in it; sub/f. */
#include "scene.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static struct stat st;
static char text[256];

static int reads(const char *path)
{
	int fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd;
}

static int status_of(pid_t child)
{
	int status = -1;
	must(child > 0 && waitpid(child, &status, __WALL) == child);
	return status;
}

/* ---- calls that look */

static void unusual_calls_that_look(void)
{
	uint64_t how[3] = {O_RDONLY, 0, 0x08 /* RESOLVE_BENEATH */};
	char st4[256];
	int folder = open("sub", O_PATH);
	must(syscall(437 /* openat2 */, AT_FDCWD, "f", how, sizeof how) >= 0);
	must(syscall(437, folder, "f", how, sizeof how) >= 0);
	must(syscall(437, folder, "../f", how, sizeof how) < 0);
	must(syscall(SYS_statx, AT_FDCWD, "two", 0, 0x7ff, st4) < 0 && errno == ENOENT);
	must(syscall(SYS_statx, AT_FDCWD, "/none/three", 0, 0x80000000u, st4) < 0 && errno == EINVAL);
	must(syscall(439 /* faccessat2 */, AT_FDCWD, "four", F_OK, AT_EACCESS) < 0 && errno == ENOENT);
	must(access("/none/five", 99) < 0 && errno == EINVAL);
	must(syscall(SYS_newfstatat, AT_FDCWD, "/none/six", &st, 0x40000000) < 0 && errno == EINVAL);
	must(syscall(439, AT_FDCWD, "/none/seven", F_OK, 0x40000000) < 0 && errno == EINVAL);
	fails(open("/none/eight", O_RDONLY), ENOENT);
}

/* walk asks of each folder on the way to a path in the folder what it is, and then of that;
 * before all of them of the root if it is to begin there. */
static void walk(const char *path, int root)
{
	char all[4096], part[4096];
	must(getcwd(all, 2048) != NULL);
	strcat(strcat(all, "/"), path);
	must(!root || lstat("/", &st) == 0);
	for (size_t n = 1; n <= strlen(all); n++)
		if (all[n] == '/' || all[n] == 0) {
			snprintf(part, sizeof part, "%.*s", (int)n, all);
			must(lstat(part, &st) == 0);
		}
}

static void walks(void)
{
	char path[4096];
	walk("sub/f", 0); /* passes sub */
	must(mkdir("made", 0755) == 0 && rmdir("made") == 0);
	walk("two/sub", 0); /* ends in a folder */
	must(lstat("f", &st) == 0);
	walk("three/sub/f", 0); /* has passed it, and asks of it again */
	must(getcwd(path, 2048) != NULL);
	must(lstat(strcat(path, "/three/sub"), &st) == 0);
	must(lstat("four", &st) == 0 && lstat("four/sub", &st) == 0 &&
		lstat("four/sub/f", &st) == 0); /* begins elsewhere */
	walk("five/sub/f", 1);                  /* begins with the root */
	pid_t child = fork();
	if (child == 0) {
		walk("six/sub", 0); /* ends with its process */
		_exit(0);
	}
	must(status_of(child) == 0);
}

static void asks_of_the_inode(void)
{
	char buffer[256];
	const unsigned asked[] = {0x04, 0x08, 0x10, 0x20, 0x80, 0x100, 0x400, 0x800, 0x7fb};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		must(syscall(SYS_statx, AT_FDCWD, "f", 0, asked[i], buffer) == 0);
}

/* Neither is there, on any file system. */
static void asks_for_attributes(void)
{
	int fd = open("sub/f", O_RDONLY);
	unsigned long flags;
	must(getxattr("f", "user.none", text, sizeof text) < 0);
	must(fd >= 0 && fgetxattr(fd, "user.none", text, sizeof text) < 0);
	ioctl(fd, 0x80086601 /* FS_IOC_GETFLAGS */, &flags);
}

static void asks_of_what_counts(void)
{
	char buffer[256];
	const unsigned asked[] = {0x01, 0x02, 0x40, 0x200, 0x243, 0x7ff, 0xfff};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		must(syscall(SYS_statx, AT_FDCWD, "f", 0, asked[i], buffer) == 0);
	must(stat("f", &st) == 0 && lstat("f", &st) == 0);
}

static void asks_of_the_time_of_a_folder(void)
{
	char buffer[256];
	must(syscall(SYS_statx, AT_FDCWD, "sub", 0, 0x40, buffer) == 0);
}

static void asks_of_the_time_of_a_link(void)
{
	char buffer[256];
	must(symlink("f", "l") == 0 && syscall(SYS_statx, AT_FDCWD, "l", 0x100, 0x41, buffer) == 0 && unlink("l") == 0);
}

/* Of the file that a link leads to the time counts, and of a folder what it is. */
static void asks_of_times_that_count(void)
{
	char buffer[256];
	must(symlink("f", "l") == 0 && syscall(SYS_statx, AT_FDCWD, "l", 0, 0x40, buffer) == 0 && unlink("l") == 0);
	must(syscall(SYS_statx, AT_FDCWD, "sub", 0, 0x03, buffer) == 0);
}

static void asks_of_the_time_of_what_it_has_made(void)
{
	char buffer[256];
	must(close(open("made", O_CREAT | O_WRONLY, 0600)) == 0);
	must(syscall(SYS_statx, AT_FDCWD, "made", 0, 0x40, buffer) == 0 && unlink("made") == 0);
}

/* Below the folder, whatever path leads to it. */
static void opens_in_another_root(void)
{
	uint64_t how[3] = {O_RDONLY, 0, 0x10 /* RESOLVE_IN_ROOT */};
	int fd = open("sub", O_RDONLY | O_DIRECTORY);
	must(fd >= 0);
	if (syscall(437 /* openat2 */, fd, "/f", how, sizeof how) < 0)
		must(errno == ENOSYS);
}

static void prints_by_another_descriptor(void)
{
	int out = open("/dev/stdout", O_WRONLY);
	must(write(2, "one\n", 4) == 4 && write(out, "two\n", 4) == 4);
}

static void writes_in_its_output(void)
{
	must(write(1, "abcdef", 6) == 6 && lseek(1, 2, SEEK_SET) == 2 && write(1, "X", 1) == 1);
}

static void asks_of_the_umask(void) { umask(umask(022)); }

/* What it may do with what it makes follows from the umask. */
static void asks_of_what_it_has_made(void)
{
	must(stat("made", &st) != 0 && mkdir("made", 0777) == 0 && stat("made", &st) == 0 && rmdir("made") == 0);
}

static void asks_of_a_link_that_it_has_made(void)
{
	must(symlink("f", "l") == 0 && lstat("l", &st) == 0 && access("l", R_OK) == 0 && unlink("l") == 0);
}

static void asks_how_many_processes(int times)
{
	struct rlimit most;
	for (int i = 0; i < times; i++)
		must(getrlimit(RLIMIT_NPROC, &most) == 0);
}

static void asks_once_how_many_processes(void) { asks_how_many_processes(1); }
static void asks_twice_how_many_processes(void) { asks_how_many_processes(2); }

static volatile sig_atomic_t ticks;
static void tick(int signal)
{
	(void)signal;
	ticks++;
}

/* Without an observer a signal interrupts none of these. */
static void interrupted(void)
{
	struct sigaction a = {.sa_handler = tick}; /* without SA_RESTART */
	struct itimerval each = {{0, 97}, {0, 97}}, never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 5000 || ticks < 10; i++) {
		must(reads("/dev/null") >= 0);
		must(stat("f", &st) == 0);
		fails(access("/none", F_OK), ENOENT);
		must(readlink("/proc/self/exe", text, sizeof text) > 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	/* But this one it does. */
	must(mkfifo("pipe", 0600) == 0);
	alarm(1);
	fails(open("pipe", O_RDONLY), EINTR);
}

/* ---- calls that matter otherwise */

static void signals_in_the_tree(void)
{
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		pause();
	}
	setpgid(child, child);
	must(kill(getpid(), 0) == 0 && raise(0) == 0);
	must(kill(child, 0) == 0);
	must(kill(-child, SIGTERM) == 0);
	must(WIFSIGNALED(status_of(child)));
	fails(kill(child, 0), ESRCH);
}

static void signal_to_a_stranger(void) { must(kill(getppid(), 0) == 0); }

static void identity_that_it_has(void) { must(setuid(getuid()) == 0 && setresgid(-1, getegid(), getgid()) == 0); }

static void ioctls(void)
{
	int fd = open("f", O_RDONLY), flags = 0;
	must(ioctl(fd, FIOCLEX) == 0);
	must(ioctl(fd, _IOR('f', 1, long), &flags) == 0 || errno == ENOTTY); /* FS_IOC_GETFLAGS */
}

static void ioctl_that_is_not_known(void) { ioctl(open("f", O_RDONLY), _IO('z', 99)); }

static void own_sockets(void)
{
	char letter = 'x';
	struct iovec data = {&letter, 1};
	char room[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	int pair[2], fd = open("f", O_RDONLY);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	must(sendmsg(pair[0], &m, 0) == 1 && recvmsg(pair[1], &m, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	must(read(fd, text, 1) == 1 && text[0] == 'x');
}

static void asks_for_io_uring(void)
{
	char room[256] = {0};
	must(syscall(425 /* io_uring_setup */, 1, room) < 0 && errno == ENOSYS);
}

static void calls_that_are_answered(void) { must(syscall(435 /* clone3 */, NULL, 0) < 0 && errno == ENOSYS); }

static void another_root(void)
{
	must(mkdir("root", 0700) == 0 && close(open("root/inside", O_CREAT | O_WRONLY, 0600)) == 0);
	fails(reads("/inside"), ENOENT);
	must(chroot("root") == 0);
	must(reads("/inside") >= 0 && access("/inside", F_OK) == 0);
}

static void other_mounts(void)
{
	must(mkdir("m", 0700) == 0 && chdir("m") == 0 && getcwd(text, sizeof text) != NULL);
	strcat(text, "/g");
	fails(reads(text), ENOENT);
	must(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	must(mount("none", ".", "tmpfs", 0, NULL) == 0);
	*strrchr(text, '/') = 0;
	must(chdir(text) == 0);
	strcat(text, "/g");
	must(close(open("g", O_CREAT | O_WRONLY, 0600)) == 0);
	must(reads(text) >= 0 && stat(text, &st) == 0);
}

/* ---- processes that hide, filter, or are made in unusual ways */

static void process_that_hides(void)
{
	must(prctl(PR_SET_DUMPABLE, 0) == 0);
	must(reads("f") >= 0);
	must(close(open("out", O_CREAT | O_WRONLY, 0600)) == 0);
	fails(reads("/none/x"), ENOENT);
	must(chdir("sub") == 0 && reads("f") >= 0);
}

static void own_filter(void)
{
	struct sock_filter code[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EXDEV},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct sock_fprog program = {4, code};
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
	must(syscall(SYS_getppid) == -1 && errno == EXDEV);
	must(reads("f") >= 0);
	fails(reads("/none"), ENOENT);
	must(status_of(fork() ?: (_exit(reads("sub/f") < 0), 0)) == 0);
}

static char stack[1 << 16] __attribute__((aligned(16)));

static int child_that_writes(void *unused)
{
	(void)unused;
	int fd = open("out", O_CREAT | O_WRONLY, 0600);
	_exit(fd < 0 || reads("f") < 0);
}

static void child_that_wants_no_tracer(void)
{
	must(status_of(clone(
		     child_that_writes, stack + sizeof stack, 0x00800000 /* CLONE_UNTRACED */ | SIGCHLD, NULL)) == 0);
}

static void child_with_its_parents_memory(void)
{
	pid_t child = vfork();
	if (child == 0) {
		execl("/bin/cat", "cat", "f", NULL);
		_exit(1);
	}
	must(status_of(child) == 0);
	must(status_of(clone(child_that_writes, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL)) == 0);
}

static void *thread_that_reads(void *number)
{
	char name[32];
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "many/%d-%d", (int)(long)number, i);
		must(reads(name) < 0 && errno == ENOENT);
		must(close(open(name, O_CREAT | O_WRONLY, 0600)) == 0);
		must(stat(name, &st) == 0 || 1);
		must(reads("f") >= 0);
	}
	return NULL;
}

static void threads_at_once(void)
{
	pthread_t all[8];
	must(mkdir("many", 0700) == 0);
	for (long i = 0; i < 8; i++)
		must(pthread_create(&all[i], NULL, thread_that_reads, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		must(pthread_join(all[i], NULL) == 0);
}

static void *thread_that_waits(void *unused)
{
	pause();
	return unused;
}

static void *thread_that_runs(void *unused)
{
	execl("/bin/cat", "cat", "sub/f", NULL);
	return unused;
}

static void thread_that_runs_a_program(void)
{
	pthread_t thread, others[3];
	for (int i = 0; i < 3; i++)
		must(pthread_create(&others[i], NULL, thread_that_waits, NULL) == 0);
	must(pthread_create(&thread, NULL, thread_that_runs, NULL) == 0);
	pause();
}

static void program_by_its_descriptor(void)
{
	char *const words[] = {"cat", "f", NULL};
	syscall(SYS_execveat, open("/bin/cat", O_PATH | O_CLOEXEC), "", words, environ, AT_EMPTY_PATH);
	must(0);
}

static void program_in_an_open_folder(void)
{
	char *const words[] = {"cat", "f", NULL};
	syscall(SYS_execveat, open("/bin", O_PATH | O_CLOEXEC), "cat", words, environ, 0);
	must(0);
}

static void program_without_a_name(void)
{
	char *const words[] = {"cat", "f", NULL};
	int from = open("/bin/cat", O_RDONLY), to = memfd_create("cat", MFD_CLOEXEC);
	static char buffer[1 << 16];
	for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
		must(write(to, buffer, (size_t)n) == n);
	fexecve(to, words, environ);
	must(0);
}

static void short_processes(void)
{
	for (volatile int i = 0; i < 2000; i++) {
		pid_t child = i % 2 == 0 ? fork() : vfork();
		if (child == 0)
			_exit(0);
		must(status_of(child) == 0);
	}
	must(reads("f") >= 0);
}

static const scene scenes[] = {
	{"unusual_calls_that_look", unusual_calls_that_look},
	{"walks", walks},
	{"asks_of_the_inode", asks_of_the_inode},
	{"asks_of_what_counts", asks_of_what_counts},
	{"asks_for_attributes", asks_for_attributes},
	{"asks_of_the_time_of_a_folder", asks_of_the_time_of_a_folder},
	{"asks_of_the_time_of_a_link", asks_of_the_time_of_a_link},
	{"asks_of_times_that_count", asks_of_times_that_count},
	{"asks_of_the_time_of_what_it_has_made", asks_of_the_time_of_what_it_has_made},
	{"opens_in_another_root", opens_in_another_root},
	{"writes_in_its_output", writes_in_its_output},
	{"prints_by_another_descriptor", prints_by_another_descriptor},
	{"asks_of_the_umask", asks_of_the_umask},
	{"asks_of_what_it_has_made", asks_of_what_it_has_made},
	{"asks_of_a_link_that_it_has_made", asks_of_a_link_that_it_has_made},
	{"asks_once_how_many_processes", asks_once_how_many_processes},
	{"asks_twice_how_many_processes", asks_twice_how_many_processes},
	{"interrupted", interrupted},
	{"signals_in_the_tree", signals_in_the_tree},
	{"signal_to_a_stranger", signal_to_a_stranger},
	{"identity_that_it_has", identity_that_it_has},
	{"ioctls", ioctls},
	{"ioctl_that_is_not_known", ioctl_that_is_not_known},
	{"own_sockets", own_sockets},
	{"asks_for_io_uring", asks_for_io_uring},
	{"calls_that_are_answered", calls_that_are_answered},
	{"another_root", another_root},
	{"other_mounts", other_mounts},
	{"process_that_hides", process_that_hides},
	{"own_filter", own_filter},
	{"child_that_wants_no_tracer", child_that_wants_no_tracer},
	{"child_with_its_parents_memory", child_with_its_parents_memory},
	{"threads_at_once", threads_at_once},
	{"thread_that_runs_a_program", thread_that_runs_a_program},
	{"program_by_its_descriptor", program_by_its_descriptor},
	{"program_in_an_open_folder", program_in_an_open_folder},
	{"program_without_a_name", program_without_a_name},
	{"short_processes", short_processes},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
