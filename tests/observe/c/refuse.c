/* refuse runs a program under a filter that refuses calls: refuse WHAT... -- WORDS. It is a
 * container that forbids them, or a kernel that has them not. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned call;
	long first; /* its first argument, -1: whatever */
	int error;
} refusals[] = {
	{"ptrace", SYS_ptrace, -1, EPERM},
	{"syscall-info", SYS_ptrace, 0x420e /* PTRACE_GET_SYSCALL_INFO */, EIO},
	{"seccomp", SYS_seccomp, -1, EPERM},
	{"pidfd-getfd", 438, -1, EPERM},
	{"pidfd-open", 434, -1, ENOSYS},
	{"statx", SYS_statx, -1, EPERM},
	{"close-range", 436, -1, ENOSYS},
};

static struct sock_filter code[256];
static unsigned short n;

static void emit(unsigned short what, unsigned char yes, unsigned char no, unsigned k)
{
	code[n++] = (struct sock_filter){what, yes, no, k};
}

int main(int argc, char **argv)
{
	int i = 1;
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (size_t j = 0; j < sizeof refusals / sizeof *refusals; j++) {
			if (strcmp(refusals[j].name, argv[i]) != 0)
				continue;
			unsigned char more = refusals[j].first >= 0 ? 2 : 0;
			emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
			emit(BPF_JMP | BPF_JEQ | BPF_K, 0, more + 1, refusals[j].call);
			if (more) {
				emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, args[0]));
				emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)refusals[j].first);
			}
			emit(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)refusals[j].error);
		}
	emit(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {n, code};
	if (i + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 2;
	execv(argv[i + 1], argv + i + 1);
	return 3;
}
