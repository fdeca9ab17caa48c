/* stop.c: registers, on x86_64 and aarch64. */
#include "stop.h"

#include <elf.h>
#include <errno.h>
#include <linux/ptrace.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "control.h"
#include "filter.h"

long jo_stop_request(long what, pid_t id, unsigned long size, unsigned long data)
{
	return syscall(SYS_ptrace, what, id, size, data);
}

/* since reports whether this kernel is of a release or a later one. */
static int since(int major, int minor)
{
	struct utsname name;
	int is = 0, and = 0;
	return uname(&name) == 0 && sscanf(name.release, "%d.%d", &is, &and) == 2 &&
	       (is > major || (is == major && and >= minor));
}

/* Older kernels run the filter first, and stop at the entry of the call after it. */
int jo_stop_known(void) { return since(4, 8); }

int jo_stop_tells_entries(void) { return since(5, 3); }

/* ---- registers, as NT_PRSTATUS has them */

#ifdef __x86_64__
typedef struct registers {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, number;
	uint64_t rip, cs, eflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
} registers;

static uint64_t *argument(registers *r, int i)
{
	uint64_t *const all[] = {&r->rdi, &r->rsi, &r->rdx, &r->r10, &r->r8, &r->r9};
	return all[i];
}

#define NUMBER(r) ((long)(r)->number)
#define RESULT(r) ((r)->rax)
#define STACK(r) ((r)->rsp)
#define CODE(r) ((r)->rip)
#elif defined __aarch64__
typedef struct registers {
	uint64_t x[31], sp, pc, pstate;
} registers;

static uint64_t *argument(registers *r, int i) { return &r->x[i]; }

#define NUMBER(r) ((long)(r)->x[8])
#define RESULT(r) ((r)->x[0])
#define STACK(r) ((r)->sp)
#define CODE(r) ((r)->pc)
#endif

static int get(pid_t id, registers *r)
{
	struct iovec v = {r, sizeof *r};
	return jo_stop_request(PTRACE_GETREGSET, id, NT_PRSTATUS, (unsigned long)&v) == 0 && v.iov_len == sizeof *r;
}

static int set(pid_t id, registers *r)
{
	struct iovec v = {r, sizeof *r};
	return jo_stop_request(PTRACE_SETREGSET, id, NT_PRSTATUS, (unsigned long)&v) == 0;
}

static jo_stop of_registers(pid_t id, int where)
{
	jo_stop s = {.where = JO_AT_NOTHING};
	registers r;
	unsigned long said = 0;
	if (!get(id, &r)) {
		s.where = errno == ESRCH ? JO_GONE : JO_AT_NOTHING;
		return s;
	}
	if (where == JO_AT_FILTER && jo_stop_request(PTRACE_GETEVENTMSG, id, 0, (unsigned long)&said) != 0)
		return s;
	s.where = where;
	s.foreign = said == JO_STOP_FOREIGN;
	s.number = NUMBER(&r);
	for (int i = 0; i < 6; i++)
		s.arguments[i] = *argument(&r, i);
	s.result = (int64_t)RESULT(&r);
	s.stack = STACK(&r);
	s.code = CODE(&r);
	return s;
}

/* read_stop reads a stop. Since Linux 5.3 the kernel tells everything in one call. An older kernel
 * does not tell where the process is stopped; then read_stop believes the caller's where. */
static jo_stop read_stop(pid_t id, int where)
{
	jo_stop s = {.where = JO_AT_NOTHING};
	struct ptrace_syscall_info info = {0};
	if (jo_stop_request(PTRACE_GET_SYSCALL_INFO, id, sizeof info, (unsigned long)&info) <= 0)
		return of_registers(id, where);
	s.stack = info.stack_pointer;
	s.code = info.instruction_pointer;
	switch (info.op) {
	case PTRACE_SYSCALL_INFO_SECCOMP:
		s.where = JO_AT_FILTER;
		s.foreign = info.seccomp.ret_data == JO_STOP_FOREIGN;
		s.number = (long)info.seccomp.nr;
		for (int i = 0; i < 6; i++)
			s.arguments[i] = info.seccomp.args[i];
		break;
	case PTRACE_SYSCALL_INFO_ENTRY:
		s.where = JO_AT_ENTRY;
		s.number = (long)info.entry.nr;
		for (int i = 0; i < 6; i++)
			s.arguments[i] = info.entry.args[i];
		break;
	case PTRACE_SYSCALL_INFO_EXIT:
		s.where = JO_AT_EXIT;
		s.result = info.exit.rval;
		break;
	default: break;
	}
	return s;
}

jo_stop jo_stop_filter(pid_t id) { return read_stop(id, JO_AT_FILTER); }
jo_stop jo_stop_end(pid_t id) { return read_stop(id, JO_AT_EXIT); }
jo_stop jo_stop_program(pid_t id) { return read_stop(id, JO_AT_EXIT); }

int jo_stop_change(pid_t id, int i, uint64_t value)
{
	registers r;
	if (!get(id, &r))
		return 0;
	*argument(&r, i) = value;
	return set(id, &r);
}

int jo_stop_refuse(pid_t id, int error) { return jo_stop_answer(id, -(int64_t)error); }

int jo_stop_answer(pid_t id, int64_t result)
{
	registers r;
	if (!get(id, &r))
		return 0;
#ifdef __x86_64__
	r.number = (uint64_t)-1;
#else
	int none = -1;
	struct iovec v = {&none, sizeof none};
	if (jo_stop_request(PTRACE_SETREGSET, id, NT_ARM_SYSTEM_CALL, (unsigned long)&v) != 0)
		return 0;
#endif
	RESULT(&r) = (uint64_t)result;
	return set(id, &r);
}

/* What the result register of an interrupted call holds until the signal is delivered (ERESTARTSYS,
 * ERESTARTNOINTR): the kernel will restart the call if the handler has SA_RESTART, or in any case. */
#define RESTART_IF_WANTED ((uint64_t)-512)
#define RESTART_ALWAYS ((uint64_t)-513)

#ifdef __x86_64__
int jo_stop_interrupted(pid_t id, jo_stop *s)
{
	if (JO_WITHOUT(RESTART))
		return 0;
	*s = of_registers(id, JO_AT_EXIT);
	return s->where == JO_AT_EXIT && (uint64_t)s->result == RESTART_IF_WANTED;
}

void jo_stop_restart(pid_t id)
{
	registers r;
	if (!get(id, &r))
		return;
	RESULT(&r) = RESTART_ALWAYS;
	set(id, &r);
}
#else
/* On aarch64 the kernel has already decided by the time of this stop. So there are no notices
 * (filter.h). */
int jo_stop_interrupted(pid_t id, jo_stop *s)
{
	(void)id;
	(void)s;
	return 0;
}

void jo_stop_restart(pid_t id) { (void)id; }
#endif
