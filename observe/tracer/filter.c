/* The filter finds the number of a system call by binary search: seven comparisons at most.
 * One comparison for each known call would cost each harmless call some three hundred. Newer
 * kernels remember which numbers are always allowed, and do not run the filter for those. */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the tracer knows x86_64 and aarch64"
#endif

/* Some machines build with headers that are older than these. */
#ifndef SECCOMP_RET_USER_NOTIF
#define SECCOMP_RET_USER_NOTIF 0x7fc00000U
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

#define TRACE (SECCOMP_RET_TRACE | JO_STOP_CALL)
#define NOTICE (making == JO_NOTICES ? SECCOMP_RET_USER_NOTIF : TRACE)
/* The low half of an argument: both architectures are little-endian. */
#define ARGUMENT(i) ((uint32_t)offsetof(struct seccomp_data, args[i]))

/* How many descriptors can be watched. A filter has at most 4,096 instructions, and each of a
 * dozen blocks compares with all the descriptors. */
enum { WATCHED = 64, CODE = 4096 };

static int reads[WATCHED], writes[WATCHED];
static int nreads, nwrites, overflow;

static struct sock_filter codes[2][CODE];
static int ncodes[2];

/* The filter that is being made. */
static enum jo_filter making;
static struct sock_filter *code;
static int ncode;

/* The jumps to the blocks of classes. place_blocks sets their targets. */
static struct {
	int at;
	uint8_t class;
} jumps[JO_NUMBERS];
static int njumps;

void jo_filter_watch(int fd, int for_writes)
{
	int *n = for_writes ? &nwrites : &nreads, *set = for_writes ? writes : reads;
	if (*n == WATCHED)
		overflow = 1;
	else
		set[(*n)++] = fd;
}

static void emit(uint16_t what, uint8_t yes, uint8_t no, uint32_t k)
{
	if (ncode < CODE)
		code[ncode] = (struct sock_filter){what, yes, no, k};
	ncode++;
}

static void load(uint32_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
static void result(uint32_t action) { emit(BPF_RET | BPF_K, 0, 0, action); }

/* when_equal ends the filter with an action if the loaded value is k. */
static void when_equal(uint32_t k, uint32_t action)
{
	emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, k);
	result(action);
}

/* when_set ends the filter with an action if one of the bits is set in the loaded value. */
static void when_set(uint32_t bits, uint32_t action)
{
	emit(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
	result(action);
}

/* when_watched ends the filter with a stop if argument i is one of the descriptors. */
static void when_watched(int i, const int *set, int n)
{
	load(ARGUMENT(i));
	for (int j = 0; j < n; j++)
		when_equal((uint32_t)set[j], TRACE);
}

static void clone_block(void)
{
	load(ARGUMENT(0));
	when_set(JO_CLONE_UNTRACED, TRACE);
	when_set(JO_CLONE_NAMESPACES, TRACE);
	when_set(CLONE_THREAD, SECCOMP_RET_ALLOW);
	when_set(CLONE_FS, TRACE);
}

static void socket_block(void)
{
	load(ARGUMENT(0));
	emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_UNIX);
	result(TRACE);
	load(ARGUMENT(1));
	emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, 15);
	when_equal(SOCK_STREAM, SECCOMP_RET_ALLOW);
	when_equal(SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
	result(TRACE);
}

static void clock_block(void)
{
	load(ARGUMENT(0));
	when_equal(CLOCK_MONOTONIC, SECCOMP_RET_ALLOW);
	when_equal(CLOCK_MONOTONIC_RAW, SECCOMP_RET_ALLOW);
	when_equal(CLOCK_MONOTONIC_COARSE, SECCOMP_RET_ALLOW);
	when_equal(CLOCK_BOOTTIME, SECCOMP_RET_ALLOW);
	when_equal(CLOCK_PROCESS_CPUTIME_ID, SECCOMP_RET_ALLOW);
	when_equal(CLOCK_THREAD_CPUTIME_ID, SECCOMP_RET_ALLOW);
	result(TRACE);
}

static int (*stops_times)(long nr);

void jo_filter_times(int (*stops)(long nr)) { stops_times = stops; }

/* futex_block stops at waits that end at a time. The numbers are those of wait.c. */
static void futex_block(void)
{
	static const uint32_t waits[] = {0, 6, 9, 11, 13};
	enum { N = sizeof waits / sizeof *waits };
	load(ARGUMENT(1));
	emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, 127);
	for (int i = 0; i < N; i++)
		emit(BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(N - i), 0, waits[i]);
	result(SECCOMP_RET_ALLOW);
	for (int half = 0; half < 2; half++) {
		load(ARGUMENT(3) + 4 * (uint32_t)half);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
		result(TRACE);
	}
}

static int stops_openings;

void jo_filter_openings(void) { stops_openings = 1; }

/* open_block stops at an opening for writing, because only the call's end tells whether it
 * worked. An opening for reading is a notice. */
static void open_block(int flags)
{
	load(ARGUMENT(flags));
	when_set(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), TRACE);
	result(stops_openings ? TRACE : NOTICE);
}

/* The ioctls that ask whether a descriptor is a terminal, and for its size. */
static const uint32_t is_terminal[] = {JO_TCGETS, JO_TCGETS2};
static int asks_terminal;
enum { WINDOW = 0x5413 }; /* TIOCGWINSZ */

void jo_filter_terminal(void) { asks_terminal = 1; }

/* Ioctls that are harmless on a descriptor that the command was not started with. TIOCGPGRP,
 * TIOCGWINSZ, FIONREAD, FIONBIO, FIOASYNC, FIONCLEX and FIOCLEX ask or set what concerns only
 * this process. FICLONE and FICLONERANGE copy files that were opened. FS_IOC_FIEMAP asks where
 * a file is on the disk. */
static const uint32_t asked[] = {
	0x540f, WINDOW, 0x541b, 0x5421, 0x5452, 0x5450, 0x5451, 0x40049409, 0x4020940d, 0xc020660b};

int jo_filter_control(uint32_t request)
{
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		if (asked[i] == request)
			return 1;
	return 0;
}

static void ioctl_block(void)
{
	load(ARGUMENT(1));
	if (asks_terminal)
		when_equal(WINDOW, SECCOMP_RET_ERRNO | ENOTTY);
	when_watched(0, reads, nreads);
	load(ARGUMENT(1));
	for (size_t i = 0; i < sizeof is_terminal / sizeof *is_terminal; i++)
		when_equal(is_terminal[i], asks_terminal ? TRACE : SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		when_equal(asked[i], SECCOMP_RET_ALLOW);
	result(TRACE);
}

/* block emits the code that decides about the calls of a class by their arguments. */
static void block(enum jo_class class)
{
	switch (class) {
	case JO_CALL_READ: when_watched(0, reads, nreads); break;
	case JO_CALL_EPOLL: when_watched(2, reads, nreads); break;
	case JO_CALL_WRITE: when_watched(0, writes, nwrites); break;
	case JO_CALL_SEEK:
		when_watched(0, reads, nreads);
		when_watched(0, writes, nwrites);
		break;
	case JO_CALL_IOCTL: ioctl_block(); return;
	case JO_CALL_FCNTL:
		load(ARGUMENT(1));
		emit(BPF_JMP | BPF_JEQ | BPF_K, 8, 0, F_DUPFD);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, F_DUPFD_CLOEXEC);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, F_GETFL);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, F_GETPIPE_SZ);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, F_GETFD);
		result(SECCOMP_RET_ALLOW);
		load(ARGUMENT(0));
		emit(BPF_JMP | BPF_JGT | BPF_K, 0, 1, STDERR_FILENO);
		result(TRACE);
		when_watched(0, reads, nreads);
		break;
	case JO_CALL_SEND:
		when_watched(0, reads, nreads);
		when_watched(1, reads, nreads);
		when_watched(0, writes, nwrites);
		when_watched(1, writes, nwrites);
		break;
	case JO_CALL_SPLICE:
		when_watched(0, reads, nreads);
		when_watched(2, writes, nwrites);
		break;
	case JO_CALL_MAP:
		load(ARGUMENT(3));
		when_set(MAP_ANONYMOUS, SECCOMP_RET_ALLOW);
		when_watched(4, reads, nreads);
		break;
	case JO_CALL_OPEN: open_block(1); break;
	case JO_CALL_OPEN_AT: open_block(2); break;
	case JO_CALL_CLOCK_ID: clock_block(); break;
	case JO_CALL_CLONE: clone_block(); break;
	case JO_CALL_FUTEX: futex_block(); break;
	case JO_CALL_SOCKET: socket_block(); break;
	default: break;
	}
	result(SECCOMP_RET_ALLOW);
}

/* kind_of returns what the filter does with a call: JO_CALL_HARMLESS: it allows the call;
 * JO_CALL_ABSENTED: the call fails; JO_CALL_LOOK: a notice; JO_CALL_UNKNOWN: a stop. Any other
 * class: the block of that class decides by the arguments. */
static enum jo_class kind_of(long nr)
{
	if (stops_times != NULL && stops_times(nr))
		return nr == SYS_futex ? JO_CALL_FUTEX : JO_CALL_UNKNOWN;
	switch (jo_class_of(nr)) {
	case JO_CALL_HARMLESS: return JO_CALL_HARMLESS;
	case JO_CALL_ABSENTED: return JO_CALL_ABSENTED;
	case JO_CALL_READ:
	case JO_CALL_ASK:
	case JO_CALL_PEER:
	case JO_CALL_DUP: return JO_CALL_READ;
	case JO_CALL_LOOK:
	case JO_CALL_LOOK_LINK:
	case JO_CALL_ACCESS:
	case JO_CALL_SYSTEM:
	case JO_CALL_READLINK: return JO_CALL_LOOK;
	case JO_CALL_OPEN:
	case JO_CALL_OPEN_AT:
	case JO_CALL_EPOLL:
	case JO_CALL_SEEK:
	case JO_CALL_WRITE:
	case JO_CALL_IOCTL:
	case JO_CALL_FCNTL:
	case JO_CALL_SEND:
	case JO_CALL_SPLICE:
	case JO_CALL_MAP:
	case JO_CALL_CLOCK_ID:
	case JO_CALL_CLONE:
	case JO_CALL_SOCKET: return jo_class_of(nr);
	default: return JO_CALL_UNKNOWN;
	}
}

static void leaf(enum jo_class kind)
{
	switch (kind) {
	case JO_CALL_HARMLESS: result(SECCOMP_RET_ALLOW); return;
	case JO_CALL_ABSENTED: result(SECCOMP_RET_ERRNO | ENOSYS); return;
	case JO_CALL_UNKNOWN: result(TRACE); return;
	case JO_CALL_LOOK: result(NOTICE); return;
	default:
		jumps[njumps].at = ncode;
		jumps[njumps++].class = (uint8_t)kind;
		emit(BPF_JMP | BPF_JA, 0, 0, 0);
	}
}

/* search emits the binary search among the runs first to last. A run is a range of numbers of
 * one kind; starts has the first number of each. */
static void search(const long *starts, int first, int last)
{
	if (first == last) {
		leaf(kind_of(starts[first]));
		return;
	}
	int middle = (first + last + 1) / 2;
	emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, (uint32_t)starts[middle]);
	int far = ncode;
	emit(BPF_JMP | BPF_JA, 0, 0, 0);
	search(starts, first, middle - 1);
	if (far < CODE)
		code[far].k = (uint32_t)(ncode - far - 1);
	search(starts, middle, last);
}

/* place_blocks emits the blocks after the search, and makes the leaves jump there. */
static void place_blocks(void)
{
	for (int class = 0; class <= JO_CALL_USED; class++) {
		int at = ncode;
		for (int i = 0; i < njumps; i++) {
			if (jumps[i].class != class)
				continue;
			code[jumps[i].at].k = (uint32_t)(at - jumps[i].at - 1);
			if (ncode == at)
				block((enum jo_class)class);
		}
	}
}

static void make(enum jo_filter which)
{
	long starts[JO_NUMBERS + 1];
	int n = 0;
	making = which;
	code = codes[which];
	ncode = njumps = 0;
	for (long nr = 0; nr <= JO_NUMBERS; nr++)
		if (nr == 0 || kind_of(nr) != kind_of(nr - 1))
			starts[n++] = nr;
	load(offsetof(struct seccomp_data, arch));
	emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
	result(SECCOMP_RET_TRACE | JO_STOP_FOREIGN);
	load(offsetof(struct seccomp_data, nr));
	search(starts, 0, n - 1);
	place_blocks();
	ncodes[which] = ncode;
}

int jo_filter_make(void)
{
	make(JO_STOPS);
	make(JO_NOTICES);
	return ncodes[JO_STOPS] <= CODE && ncodes[JO_NOTICES] <= CODE && !overflow;
}

int jo_filter_notices(void)
{
#ifdef __x86_64__
	return 1;
#else
	return 0;
#endif
}

int jo_filter_lowers(void)
{
	char line[256];
	unsigned long long has = 0;
	FILE *status = fopen("/proc/self/status", "re");
	while (status != NULL && fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "CapEff: %llx", &has) == 1)
			break;
	if (status != NULL)
		fclose(status);
	/* Without CAP_SYS_ADMIN (21) a filter needs no_new_privs. If the tracer lacks
	 * CAP_SYS_PTRACE (19), the kernel gives no privileges to its tracees. */
	return (has >> 21 & 1) == 0 || (has >> 19 & 1) == 0;
}

int jo_filter_install(enum jo_filter which)
{
	struct sock_fprog program = {(unsigned short)ncodes[which], codes[which]};
	unsigned flags = which == JO_NOTICES ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	long got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	/* Without CAP_SYS_ADMIN only a process that can gain no privileges may install one. */
	if (got < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return (int)got;
}
