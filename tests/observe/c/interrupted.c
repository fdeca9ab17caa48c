/* interrupted looks at names, with links and open too, while a timer interrupts it
 * all the time, and fails if a call says so: without an observer none does. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static void tick(int signal)
{
	(void)signal;
	ticks++;
}

int main(void)
{
	struct sigaction a = {.sa_handler = tick}; /* without SA_RESTART */
	struct itimerval each = {{0, 97}, {0, 97}};
	struct stat st;
	char text[64];
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
	for (int i = 0; i < 20000; i++) {
		errno = 0;
		int fd = open("/dev/null", O_RDONLY);
		if (fd >= 0)
			close(fd);
		if (fd < 0 || stat("/etc/passwd", &st) != 0 || access("/none", F_OK) == 0 || errno != ENOENT ||
			readlink("/proc/self/exe", text, sizeof text) < 0) {
			printf("%d: %s after %d signals\n", i, strerror(errno), (int)ticks);
			return 1;
		}
	}
	return ticks < 10;
}
