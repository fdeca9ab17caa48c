#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "control.h"
#include "keeper.h"
#include "report.h"
#include "use.h"

static struct {
	int fd, pass;
	int error; /* why nothing more can be passed on: an errno */
	int said;  /* a write of the tree has failed with it */
	int terminal;
	uint64_t noted, passed;
} streams[2] = {{.fd = -1, .pass = -1}, {.fd = -1, .pass = -1}};

/* So much of each is kept. Of more, what was passed on is given back to the system. */
#define MOST (UINT64_C(1) << 28)

void jo_output_start(int out, int err, int pass_out, int pass_err, int terminals)
{
	streams[0].fd = out;
	streams[1].fd = err;
	streams[0].pass = pass_out;
	streams[1].pass = pass_err;
	for (int i = 0; i < 2 && terminals; i++)
		streams[i].terminal = streams[i].pass >= 0 && isatty(streams[i].pass);
}

int jo_output_terminals(void) { return streams[0].terminal || streams[1].terminal; }

/* is reports whether a file is that of a stream. */
static int is(int i, const struct stat *st)
{
	struct stat own;
	return fstat(streams[i].fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

int jo_output_is_terminal(pid_t id, int fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)id, fd);
	return stat(path, &st) == 0 && ((streams[0].terminal && is(0, &st)) || (streams[1].terminal && is(1, &st)));
}

int jo_output_is(const struct stat *st) { return is(0, st) || is(1, st); }

/* lose: nothing more can be passed on. What the tree goes on to do may follow from that, and what
 * it has printed is not whole: the result is not kept. */
static void lose(int i, int why)
{
	streams[i].pass = -1;
	if (JO_WITHOUT(LOSSES))
		return;
	streams[i].error = why;
	jo_use(NULL, JO_USE_UNREADABLE, JO_OUTPUT_LOST);
}

/* goes_on reports whether a write that has failed is to be made again: who reads from a pipe that
 * does not block is waited for, as of one that does. */
static int goes_on(int fd)
{
	struct pollfd p = {fd, POLLOUT, 0};
	if (jo_keeper_gone())
		return 0;
	return errno == EINTR || (errno == EAGAIN && !JO_WITHOUT(LOSSES) && (poll(&p, 1, -1) >= 0 || errno == EINTR));
}

/* pass_on copies what is new. */
static void pass_on(int i, uint64_t size)
{
	char buffer[65536];
	while (streams[i].pass >= 0 && streams[i].passed < size) {
		uint64_t left = size - streams[i].passed;
		ssize_t n = pread(streams[i].fd, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer,
			(off_t)streams[i].passed);
		for (ssize_t done = 0, w; done < n; done += w) {
			w = write(streams[i].pass, buffer + done, (size_t)(n - done));
			if (w < 0 && goes_on(streams[i].pass))
				w = 0;
			if (w < 0) {
				lose(i, errno);
				return;
			}
		}
		if (n <= 0)
			return;
		streams[i].passed += (uint64_t)n;
	}
}

int jo_output_passed(void)
{
	return streams[0].passed != 0 || streams[1].passed != 0 || streams[0].error != 0 || streams[1].error != 0;
}

int jo_output_unsaid(void)
{
	for (int i = 0; i < 2; i++)
		if (streams[i].error != 0 && !streams[i].said)
			return streams[i].error;
	return 0;
}

int jo_output_drop(void)
{
	for (int i = 0; i < 2; i++) {
		if (ftruncate(streams[i].fd, 0) != 0)
			return 0;
		streams[i].noted = 0;
	}
	return 1;
}

void jo_output_pass(void)
{
	struct stat st;
	for (int i = 0; i < 2; i++) {
		if (streams[i].fd < 0 || fstat(streams[i].fd, &st) != 0 || (uint64_t)st.st_size <= streams[i].noted)
			continue;
		streams[i].noted = (uint64_t)st.st_size;
		jo_report_begin(JO_OUTPUT);
		jo_report_u32((uint32_t)i + 1);
		jo_report_u64(streams[i].noted);
		jo_report_end();
		pass_on(i, streams[i].noted);
		if (streams[i].noted <= MOST)
			continue;
		jo_use(NULL, JO_USE_UNREADABLE, "more output than is kept");
		if (streams[i].error != 0)
			streams[i].passed = streams[i].noted; /* nobody will have it */
		if (streams[i].pass >= 0 || streams[i].error != 0)
			fallocate(
				streams[i].fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)streams[i].passed);
	}
}

int jo_output_stop(pid_t id, int fd)
{
	char path[64];
	struct stat st;
	if (fd != 1 && fd != 2)
		return JO_OUTPUT_OTHER;
	jo_output_pass();
	if (streams[0].error == 0 && streams[1].error == 0)
		return JO_OUTPUT_NOTED;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)id, fd);
	for (int i = 0; i < 2 && stat(path, &st) == 0; i++)
		if (streams[i].error != 0 && is(i, &st)) {
			streams[i].said = 1;
			return -streams[i].error;
		}
	return JO_OUTPUT_NOTED;
}
