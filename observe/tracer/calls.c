#include "calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "report.h"

/* Neither inputs nor effects outside the process, or only on what was opened,
 * which was stopped at. Who a process is (getuid) and how much memory there is
 * (sysinfo) are left out on purpose: docs/launcher.md, "What does not count". */
static const short harmless[] = {
	SYS_brk, SYS_capget, SYS_capset, SYS_clock_getres, SYS_clock_nanosleep, SYS_close, SYS_epoll_create1,
	SYS_epoll_ctl, SYS_epoll_pwait, SYS_eventfd2, SYS_exit, SYS_exit_group, SYS_fadvise64, SYS_fallocate,
	SYS_fchmod, SYS_fchown, SYS_fdatasync, SYS_flock, SYS_fremovexattr, SYS_fsetxattr, SYS_fstat, SYS_fstatfs,
	SYS_fsync, SYS_ftruncate, SYS_futex, SYS_get_mempolicy, SYS_get_robust_list, SYS_getcpu, SYS_getegid,
	SYS_geteuid, SYS_getgid, SYS_getgroups, SYS_getitimer, SYS_getpeername, SYS_getpgid, SYS_getpid, SYS_getppid,
	SYS_getpriority, SYS_getrandom, SYS_getresgid, SYS_getresuid, SYS_getrusage, SYS_getsid, SYS_getsockname,
	SYS_getsockopt, SYS_gettid, SYS_getuid, SYS_inotify_init1, SYS_inotify_rm_watch, SYS_ioprio_get,
	SYS_ioprio_set, SYS_kcmp, SYS_kill, SYS_lseek, SYS_madvise, SYS_mbind, SYS_membarrier, SYS_memfd_create,
	SYS_migrate_pages, SYS_mincore, SYS_mlock, SYS_mlock2, SYS_mlockall, SYS_move_pages, SYS_mprotect, SYS_mremap,
	SYS_msync, SYS_munlock, SYS_munlockall, SYS_munmap, SYS_nanosleep, SYS_personality, SYS_pipe2, SYS_pkey_alloc,
	SYS_pkey_free, SYS_pkey_mprotect, SYS_ppoll, SYS_prctl, SYS_pselect6, SYS_readahead, SYS_remap_file_pages,
	SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigqueueinfo,
	SYS_rt_sigreturn, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_rt_tgsigqueueinfo, SYS_sched_get_priority_max,
	SYS_sched_get_priority_min, SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler,
	SYS_sched_rr_get_interval, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_yield,
	SYS_seccomp, SYS_set_mempolicy, SYS_set_robust_list, SYS_set_tid_address, SYS_setfsgid, SYS_setfsuid,
	SYS_setgid, SYS_setgroups, SYS_setitimer, SYS_setpgid, SYS_setpriority, SYS_setregid, SYS_setresgid,
	SYS_setresuid, SYS_setreuid, SYS_setrlimit, SYS_setsid, SYS_setsockopt, SYS_setuid, SYS_shmdt, SYS_shutdown,
	SYS_sigaltstack, SYS_signalfd4, SYS_socketpair, SYS_sync, SYS_sync_file_range, SYS_syncfs, SYS_sysinfo,
	SYS_tgkill, SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun, SYS_timer_gettime, SYS_timer_settime,
	SYS_timerfd_create, SYS_timerfd_gettime, SYS_timerfd_settime, SYS_times, SYS_tkill, SYS_umask, SYS_userfaultfd,
	SYS_wait4, SYS_waitid,
#ifdef __x86_64__ /* what newer architectures have not */
	SYS_alarm, SYS_arch_prctl, SYS_epoll_create, SYS_epoll_ctl_old, SYS_epoll_wait, SYS_epoll_wait_old, SYS_eventfd,
	SYS_fork, SYS_get_thread_area, SYS_getpgrp, SYS_inotify_init, SYS_modify_ldt, SYS_pause, SYS_pipe,
	SYS_poll, SYS_select, SYS_set_thread_area, SYS_signalfd, SYS_vfork,
#endif
	/* By number, for older headers; these are the same everywhere. */
	424, /* pidfd_send_signal */
	434, /* pidfd_open */
	436, /* close_range */
	440, /* process_madvise */
	441, /* epoll_pwait2 */
	444, 445, 446, /* landlock */
	447, /* memfd_secret */
	448, /* process_mrelease */
	449, 454, 455, 456, /* futex_waitv, futex_wake, futex_wait, futex_requeue */
	450, /* set_mempolicy_home_node */
	451, /* cachestat */
	453, /* map_shadow_stack */
	462, /* mseal */
};

#define NONE -1, -1, -1, -1, -1
#define PATH(at) -1, at, -1, -1, -1
#define IN(folder, path) folder, path, -1, -1, -1
#define IN_FLAGS(folder, path, flags) folder, path, -1, -1, flags
#define USED(use) -1, -1, -1, -1, use

static const jo_call calls[] = {
	{SYS_openat, JO_CALL_OPEN_AT, IN_FLAGS(0, 1, 2)},
	{437 /* openat2 */, JO_CALL_OPEN_HOW, IN_FLAGS(0, 1, 2)},
	{SYS_statx, JO_CALL_LOOK, IN_FLAGS(0, 1, 2)},
	{SYS_newfstatat, JO_CALL_LOOK, IN_FLAGS(0, 1, 3)},
	{SYS_faccessat, JO_CALL_ACCESS, IN(0, 1)},
	{439 /* faccessat2 */, JO_CALL_ACCESS, IN_FLAGS(0, 1, 3)},
	{SYS_statfs, JO_CALL_LOOK, PATH(0)},
	{SYS_inotify_add_watch, JO_CALL_LOOK, PATH(1)},
	{SYS_readlinkat, JO_CALL_READLINK, IN(0, 1)},
	{SYS_execve, JO_CALL_EXEC, PATH(0)},
	{SYS_execveat, JO_CALL_EXEC, IN_FLAGS(0, 1, 4)},
	{SYS_chdir, JO_CALL_CHDIR, PATH(0)},
	{SYS_fchdir, JO_CALL_FCHDIR, NONE},
	{SYS_getcwd, JO_CALL_GETCWD, NONE},
	{SYS_getdents64, JO_CALL_LIST, NONE},
	{SYS_getxattr, JO_CALL_XATTR, PATH(0)},
	{SYS_lgetxattr, JO_CALL_LXATTR, PATH(0)},
	{SYS_listxattr, JO_CALL_XATTR, PATH(0)},
	{SYS_llistxattr, JO_CALL_LXATTR, PATH(0)},
	{SYS_fgetxattr, JO_CALL_XATTR, NONE},
	{SYS_flistxattr, JO_CALL_XATTR, NONE},
	{SYS_mkdirat, JO_CALL_MAKE, IN(0, 1)},
	{SYS_mknodat, JO_CALL_MAKE, IN(0, 1)},
	{SYS_symlinkat, JO_CALL_MAKE, IN(1, 2)},
	{SYS_unlinkat, JO_CALL_REMOVE, IN(0, 1)},
	{SYS_renameat2, JO_CALL_RENAME, 0, 1, 2, 3, 4},
	{SYS_linkat, JO_CALL_LINK, 0, 1, 2, 3, 4},
	{SYS_fchmodat, JO_CALL_CHANGE, IN(0, 1)},
	{452 /* fchmodat2 */, JO_CALL_CHANGE, IN(0, 1)},
	{SYS_fchownat, JO_CALL_CHANGE, IN(0, 1)},
	{SYS_utimensat, JO_CALL_CHANGE, IN(0, 1)},
	{SYS_truncate, JO_CALL_CHANGE, PATH(0)},
	{SYS_setxattr, JO_CALL_CHANGE, PATH(0)},
	{SYS_lsetxattr, JO_CALL_CHANGE, PATH(0)},
	{SYS_removexattr, JO_CALL_CHANGE, PATH(0)},
	{SYS_lremovexattr, JO_CALL_CHANGE, PATH(0)},
	{SYS_read, JO_CALL_READ, NONE},
	{SYS_readv, JO_CALL_READ, NONE},
	{SYS_pread64, JO_CALL_READ, NONE},
	{SYS_preadv, JO_CALL_READ, NONE},
	{SYS_preadv2, JO_CALL_READ, NONE},
	{SYS_recvfrom, JO_CALL_READ, NONE},
	{SYS_recvmsg, JO_CALL_READ, NONE},
	{SYS_recvmmsg, JO_CALL_READ, NONE},
	{SYS_write, JO_CALL_WRITE, NONE},
	{SYS_writev, JO_CALL_WRITE, NONE},
	{SYS_pwrite64, JO_CALL_WRITE, NONE},
	{SYS_pwritev, JO_CALL_WRITE, NONE},
	{SYS_pwritev2, JO_CALL_WRITE, NONE},
	{SYS_vmsplice, JO_CALL_WRITE, NONE},
	{SYS_sendto, JO_CALL_WRITE, NONE},
	{SYS_sendmsg, JO_CALL_WRITE, NONE},
	{SYS_sendmmsg, JO_CALL_WRITE, NONE},
	{SYS_ioctl, JO_CALL_IOCTL, NONE},
	{SYS_sendfile, JO_CALL_SEND, NONE},
	{SYS_splice, JO_CALL_SPLICE, NONE},
	{SYS_tee, JO_CALL_SEND, NONE},
	{SYS_copy_file_range, JO_CALL_SPLICE, NONE},
	{SYS_dup, JO_CALL_DUP, NONE},
	{SYS_dup3, JO_CALL_DUP, NONE},
	{SYS_fcntl, JO_CALL_FCNTL, NONE},
	{SYS_mmap, JO_CALL_MAP, NONE},
	{SYS_clock_gettime, JO_CALL_CLOCK_ID, NONE},
	{SYS_clone, JO_CALL_CLONE, NONE},
	{SYS_sched_getaffinity, JO_CALL_AFFINITY, NONE},
	{SYS_sched_setaffinity, JO_CALL_AFFINITY, NONE},
	{SYS_connect, JO_CALL_CONNECT, NONE},
	{SYS_socket, JO_CALL_SOCKET, NONE},
	{SYS_gettimeofday, JO_CALL_TIME_OF_DAY, NONE},
	{SYS_uname, JO_CALL_USED, USED(JO_USE_HOST)},
	{SYS_getrlimit, JO_CALL_USED, USED(JO_USE_LIMITS)},
	{SYS_prlimit64, JO_CALL_USED, USED(JO_USE_LIMITS)},
	{SYS_bind, JO_CALL_USED, USED(JO_USE_SOCKET)},
	{SYS_listen, JO_CALL_USED, USED(JO_USE_SOCKET)},
	{SYS_accept, JO_CALL_USED, USED(JO_USE_SOCKET)},
	{SYS_accept4, JO_CALL_USED, USED(JO_USE_SOCKET)},
	{SYS_shmget, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_shmat, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_shmctl, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_semget, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_semop, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_semctl, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_semtimedop, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_msgget, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_msgsnd, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_msgrcv, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_msgctl, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_mq_open, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_mq_unlink, JO_CALL_USED, USED(JO_USE_IPC)},
	{SYS_ptrace, JO_CALL_USED, USED(JO_USE_TRACE)},
	{SYS_process_vm_readv, JO_CALL_USED, USED(JO_USE_TRACE)},
	{SYS_process_vm_writev, JO_CALL_USED, USED(JO_USE_TRACE)},
	{438 /* pidfd_getfd */, JO_CALL_USED, USED(JO_USE_TRACE)},
	{SYS_chroot, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{SYS_pivot_root, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{SYS_mount, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{SYS_umount2, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{SYS_unshare, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{SYS_setns, JO_CALL_USED, USED(JO_USE_NAMESPACE)},
	{425 /* io_uring_setup */, JO_CALL_ABSENTED, NONE},
	{435 /* clone3: glibc goes on with clone, whose flags the filter sees */, JO_CALL_ABSENTED, NONE},
#ifdef __x86_64__
	{SYS_open, JO_CALL_OPEN, IN_FLAGS(-1, 0, 1)},
	{SYS_creat, JO_CALL_CREAT, PATH(0)},
	{SYS_stat, JO_CALL_LOOK, PATH(0)},
	{SYS_lstat, JO_CALL_LOOK_LINK, PATH(0)},
	{SYS_access, JO_CALL_ACCESS, PATH(0)},
	{SYS_readlink, JO_CALL_READLINK, PATH(0)},
	{SYS_getdents, JO_CALL_LIST, NONE},
	{SYS_mkdir, JO_CALL_MAKE, PATH(0)},
	{SYS_mknod, JO_CALL_MAKE, PATH(0)},
	{SYS_symlink, JO_CALL_MAKE, PATH(1)},
	{SYS_unlink, JO_CALL_REMOVE, PATH(0)},
	{SYS_rmdir, JO_CALL_REMOVE, PATH(0)},
	{SYS_rename, JO_CALL_RENAME, -1, 0, -1, 1, -1},
	{SYS_link, JO_CALL_LINK, -1, 0, -1, 1, -1},
	{SYS_chmod, JO_CALL_CHANGE, PATH(0)},
	{SYS_chown, JO_CALL_CHANGE, PATH(0)},
	{SYS_lchown, JO_CALL_CHANGE, PATH(0)},
	{SYS_utime, JO_CALL_CHANGE, PATH(0)},
	{SYS_utimes, JO_CALL_CHANGE, PATH(0)},
	{SYS_futimesat, JO_CALL_CHANGE, IN(0, 1)},
	{SYS_dup2, JO_CALL_DUP, NONE},
	{SYS_time, JO_CALL_TIME, NONE},
#endif
#ifdef SYS_renameat
	{SYS_renameat, JO_CALL_RENAME, 0, 1, 2, 3, -1},
#endif
};

static const jo_call *known[JO_NUMBERS];
static uint8_t class_of[JO_NUMBERS];

__attribute__((constructor)) static void learn(void)
{
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		class_of[harmless[i]] = JO_CALL_HARMLESS;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		known[calls[i].nr] = &calls[i];
		class_of[calls[i].nr] = calls[i].class;
	}
}

const jo_call *jo_call_of(long nr) { return nr >= 0 && nr < JO_NUMBERS ? known[nr] : NULL; }

enum jo_class jo_class_of(long nr) { return nr >= 0 && nr < JO_NUMBERS ? (enum jo_class)class_of[nr] : JO_CALL_UNKNOWN; }
