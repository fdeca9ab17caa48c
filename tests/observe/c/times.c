/* Scenes of a hermetic tree, which is shown the second 1000000000. The folder has: f, a file; sub, a folder; link, to
 * f. */
#include "scene.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

enum { SECOND = 1000000000, WAIT_MS = 300 };

static int64_t reading(clockid_t clock)
{
	struct timespec t;
	must(clock_gettime(clock, &t) == 0);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct timespec later(int ms)
{
	int64_t t = reading(CLOCK_REALTIME) + ms * INT64_C(1000000);
	return (struct timespec){t / 1000000000, t % 1000000000};
}

/* ---- the clock */

static void reads_clocks(void)
{
	const int64_t first = SECOND * INT64_C(1000000000), step = 1000;
	struct timeval v;
	struct timespec t;
	time_t seconds = 0;
	must(reading(CLOCK_REALTIME) == first);
	must(reading(CLOCK_REALTIME) == first + step);
	must(reading(CLOCK_REALTIME_COARSE) == first + 2 * step);
	must(syscall(SYS_clock_gettime, CLOCK_REALTIME, &t) == 0 && t.tv_sec == SECOND && t.tv_nsec == 3 * step);
	must(gettimeofday(&v, NULL) == 0 && v.tv_sec == SECOND && v.tv_usec == 4);
	must(time(NULL) == SECOND && time(&seconds) == SECOND && seconds == SECOND);
	fails(syscall(SYS_clock_gettime, CLOCK_REALTIME, 8), EFAULT);
	int64_t began = reading(CLOCK_MONOTONIC);
	usleep(1000);
	must(reading(CLOCK_MONOTONIC) - began >= 1000000);
	must(reading(CLOCK_PROCESS_CPUTIME_ID) > 0);
	pid_t child = fork();
	if (child == 0) {
		int64_t its = reading(CLOCK_REALTIME);
		_exit(its > first && its < first + 10000000 ? 0 : 1);
	}
	int status = -1;
	must(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void reads_a_clock_that_cannot_be_shown(void) { reading(11 /* CLOCK_TAI */); }

/* ---- times of files */

static void is_second(const struct stat *st)
{
	must(st->st_mtim.tv_sec == SECOND && st->st_mtim.tv_nsec == 0);
	must(st->st_ctim.tv_sec == SECOND && st->st_ctim.tv_nsec == 0);
	must(st->st_atim.tv_sec == SECOND && st->st_atim.tv_nsec == 0);
}

static void is_second_of_statx(int fd, const char *path, int flags)
{
	int64_t all[32] = {0};
	must(syscall(SYS_statx, fd, path, flags, 0xfff, all) == 0);
	const int64_t times[] = {8 /* atime */, 12 /* ctime */, 14 /* mtime */};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		must(all[times[i]] == SECOND && all[times[i] + 1] == 0);
	must((all[0] & 0x800) == 0 || (all[10] == SECOND && all[11] == 0)); /* btime */
}

static void asks_for_times(void)
{
	const char *const names[] = {"f", "sub", "link", "made"};
	struct stat st;
	must(close(open("made", O_CREAT | O_WRONLY, 0600)) == 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int fd = open(names[i], O_RDONLY);
		must(fd >= 0);
		must(stat(names[i], &st) == 0);
		is_second(&st);
		must(lstat(names[i], &st) == 0);
		is_second(&st);
		must(fstat(fd, &st) == 0);
		is_second(&st);
		must(fstatat(fd, "", &st, 0x1000 /* AT_EMPTY_PATH */) == 0);
		is_second(&st);
		is_second_of_statx(AT_FDCWD, names[i], 0);
		is_second_of_statx(AT_FDCWD, names[i], AT_SYMLINK_NOFOLLOW);
		is_second_of_statx(fd, "", 0x1000);
	}
	fails(stat("none", &st), ENOENT);
	must(stat("f", &st) == 0 && st.st_size == 1); /* the rest is true */
	int64_t all[32] = {0};
	must(syscall(SYS_statx, AT_FDCWD, "sub", 0, 0x40 /* STATX_MTIME */, all) == 0 && all[14] == SECOND);
}

/* ---- waits */

/* lasted checks that a wait of WAIT_MS was one, and that the clock shows it. */
static void lasted(int64_t began, struct timespec until)
{
	int64_t real = (reading(CLOCK_MONOTONIC) - began) / 1000000;
	must(real >= WAIT_MS - 1);
	must(real < 20 * WAIT_MS); /* and not until the true clock shows it, nor again and again */
	must(reading(CLOCK_REALTIME) >= until.tv_sec * INT64_C(1000000000) + until.tv_nsec);
}

static void waits_for_a_condition(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	int64_t began = reading(CLOCK_MONOTONIC);
	struct timespec until = later(WAIT_MS), same = until;
	pthread_mutex_lock(&m);
	must(pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT);
	must(memcmp(&until, &same, sizeof same) == 0);
	lasted(began, until);
}

static void stop_for_a_moment(pid_t process)
{
	usleep(WAIT_MS * 1000 / 6);
	must(kill(process, SIGSTOP) == 0);
	usleep(WAIT_MS * 1000 / 6);
	must(kill(process, SIGCONT) == 0);
	_exit(0);
}

/* Who is stopped goes on to wait until the same time. */
static void is_stopped_while_it_waits(void)
{
	pid_t self = getpid(), child = fork();
	if (child == 0)
		stop_for_a_moment(self);
	waits_for_a_condition();
	must(waitpid(child, NULL, 0) == child);
}

static void sleeps_until(void)
{
	int64_t began = reading(CLOCK_MONOTONIC);
	struct timespec until = later(WAIT_MS);
	must(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
	lasted(began, until);
}

static void waits_for_a_timer(void)
{
	uint64_t times;
	int64_t began = reading(CLOCK_MONOTONIC);
	struct itimerspec when = {{0, 0}, later(WAIT_MS)}, left;
	int fd = timerfd_create(CLOCK_REALTIME, 0);
	must(fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
	must(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_sec == 0);
	must(read(fd, &times, sizeof times) == sizeof times && times == 1);
	must((reading(CLOCK_MONOTONIC) - began) / 1000000 >= WAIT_MS - 1);
}

static void waits_for_a_signal_of_a_timer(void)
{
	timer_t timer;
	sigset_t set;
	int got = 0;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	int64_t began = reading(CLOCK_MONOTONIC);
	struct itimerspec when = {{0, 0}, later(WAIT_MS)};
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	must(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
	must(timer_settime(timer, TIMER_ABSTIME, &when, NULL) == 0);
	must(sigwait(&set, &got) == 0 && got == SIGUSR1);
	must((reading(CLOCK_MONOTONIC) - began) / 1000000 >= WAIT_MS - 1);
}

/* A program may wait for a time of the clock by short sleeps. */
static void sleeps_until_the_clock_shows_it(void)
{
	struct timespec until = later(WAIT_MS);
	int64_t began = reading(CLOCK_MONOTONIC);
	for (int i = 0; reading(CLOCK_REALTIME) < until.tv_sec * INT64_C(1000000000) + until.tv_nsec; i++) {
		must(i < 4);
		usleep(WAIT_MS * 1000 / 3);
	}
	lasted(began, until);
}

static void *sleeps_for_itself(void *unused)
{
	usleep(50000);
	return unused;
}

/* So does each call that waits for nothing but a time; what another thread sleeps is its own affair. */
static void sleeps_by_every_call(void)
{
	const int64_t each = 20 * INT64_C(1000000);
	struct timespec t = {0, each};
	struct timeval v = {0, each / 1000};
	pthread_t thread;
	int64_t began = reading(CLOCK_REALTIME);
	must(poll(NULL, 0, 20) == 0 && ppoll(NULL, 0, &t, NULL) == 0);
	must(select(0, NULL, NULL, NULL, &v) == 0 && pselect(0, NULL, NULL, NULL, &t, NULL) == 0);
	must(nanosleep(&t, NULL) == 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) == 0);
	must(reading(CLOCK_REALTIME) == began + 6 * each + 1000);
	int64_t until = reading(CLOCK_MONOTONIC) + each;
	t = (struct timespec){until / 1000000000, until % 1000000000};
	must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0);
	int64_t shown = reading(CLOCK_REALTIME) - began;
	must(shown > 6 * each && shown <= 7 * each + 2000);
	must(pthread_create(&thread, NULL, sleeps_for_itself, NULL) == 0 && pthread_join(thread, NULL) == 0);
	must(reading(CLOCK_REALTIME) == began + shown + 1000);
}

/* It may do so by timers, or in another process, again and again. The true clock ends that. */
static void waits_long(void)
{
	struct itimerspec when = {{0, 0}, later(11000)};
	int fd = timerfd_create(CLOCK_REALTIME, 0);
	must(fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
	must(reading(CLOCK_REALTIME) > (SECOND + 100000) * INT64_C(1000000000));
}

static const scene scenes[] = {
	{"reads_clocks", reads_clocks},
	{"reads_a_clock_that_cannot_be_shown", reads_a_clock_that_cannot_be_shown},
	{"asks_for_times", asks_for_times},
	{"waits_for_a_condition", waits_for_a_condition},
	{"is_stopped_while_it_waits", is_stopped_while_it_waits},
	{"sleeps_until", sleeps_until},
	{"waits_for_a_timer", waits_for_a_timer},
	{"waits_for_a_signal_of_a_timer", waits_for_a_signal_of_a_timer},
	{"sleeps_until_the_clock_shows_it", sleeps_until_the_clock_shows_it},
	{"sleeps_by_every_call", sleeps_by_every_call},
	{"waits_long", waits_long},
};

int main(int argc, char **argv) { return play(scenes, sizeof scenes / sizeof *scenes, argc, argv); }
