/* output.c: notes the lengths of the streams at each write, and passes on what was written. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/sendfile.h>
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
	int file; /* the tree uses it as the file that it stands for */
	uint64_t noted, passed;
} streams[2] = {{.fd = -1, .pass = -1}, {.fd = -1, .pass = -1}};

/* How much of each stream is kept. If a stream is longer, the tracer frees the space of what it
 * has passed on. */
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

/* lose notes that nothing more of a stream can be passed on. What the tree does next may follow
 * from that, and its output is not complete: the result is not kept. */
static void lose(int i, int why)
{
	streams[i].pass = -1;
	if (JO_WITHOUT(LOSSES))
		return;
	streams[i].error = why;
	jo_use(NULL, JO_USE_UNREADABLE, JO_OUTPUT_LOST);
}

/* goes_on reports whether to repeat a write that has failed. If the descriptor does not block,
 * goes_on waits for the reader, as a blocking write would. */
static int goes_on(int fd)
{
	struct pollfd p = {fd, POLLOUT, 0};
	if (jo_keeper_gone())
		return 0;
	return errno == EINTR || (errno == EAGAIN && !JO_WITHOUT(LOSSES) && (poll(&p, 1, -1) >= 0 || errno == EINTR));
}

/* pass_on passes on what is new in a stream, up to size. */
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

/* ---- output that is used as a file */

/* At each pass, the file that a stream stands for is made equal to the stream, if the stream is no
 * larger than this. For a larger one that happens at the end. */
#define SYNCED (INT64_C(1) << 20)

/* target opens again the file that a stream stands for, to read it and to write anywhere in it. It
 * returns -1 if it cannot. */
static int target(int i)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", streams[i].pass);
	return streams[i].pass < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
}

/* copy makes a file equal to another one. */
static void copy(int from, int to)
{
	off_t at = 0;
	struct stat st;
	if (fstat(from, &st) != 0 || lseek(to, 0, SEEK_SET) != 0)
		return;
	while (at < st.st_size && sendfile(to, from, &at, (size_t)(st.st_size - at)) > 0)
		;
	if (ftruncate(to, at) != 0)
		return;
}

/* begin_file makes a stream equal to the file that it stands for. Everything in the stream has been
 * passed on. It returns 0 if it cannot. */
static int begin_file(int i)
{
	char path[64];
	int file = target(i), flags = fcntl(streams[i].pass, F_GETFL) & O_APPEND;
	snprintf(path, sizeof path, "/proc/self/fd/%d", streams[i].fd);
	int own = open(path, O_RDWR | O_CLOEXEC); /* with a file position of its own */
	if (file >= 0 && own >= 0) {
		copy(file, own);
		fcntl(streams[i].fd, F_SETFL, flags);
		lseek(streams[i].fd, lseek(streams[i].pass, 0, SEEK_CUR), SEEK_SET);
		streams[i].file = 1;
	}
	if (file >= 0)
		close(file);
	if (own >= 0)
		close(own);
	return streams[i].file;
}

/* sync_file makes the file equal to the stream: with end whatever the stream's size is. */
static void sync_file(int i, int end)
{
	struct stat st;
	int file = -1;
	if (fstat(streams[i].fd, &st) == 0 && (end || st.st_size <= SYNCED))
		file = target(i);
	if (file < 0)
		return;
	copy(streams[i].fd, file);
	lseek(streams[i].pass, lseek(streams[i].fd, 0, SEEK_CUR), SEEK_SET);
	close(file);
}

/* is_file reports whether a stream stands for a file. */
static int is_file(int i)
{
	struct stat st;
	return streams[i].pass >= 0 && fstat(streams[i].pass, &st) == 0 && S_ISREG(st.st_mode);
}

/* as_file is called when a process uses a stream as the file that it stands for. It returns 0 if
 * that is not possible. */
static int as_file(const jo_process *p, int i)
{
	jo_use(p, JO_USE_DESCRIPTOR, "output as a file");
	jo_output_pass();
	return streams[i].file || begin_file(i);
}

int64_t jo_output_sought(const jo_process *p, int fd, int changes)
{
	char path[64];
	struct stat st;
	if (fd != 1 && fd != 2)
		return JO_OUTPUT_ASKED;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->id, fd);
	for (int i = 0; i < 2 && stat(path, &st) == 0; i++) {
		if (streams[i].pass < 0 || !is(i, &st))
			continue;
		jo_output_pass();
		off_t place = lseek(streams[i].pass, 0, SEEK_CUR);
		if (place < 0)
			return -errno;
		if (!is_file(i) || streams[i].file)
			return JO_OUTPUT_ASKED;
		if (!changes)
			return place;
		as_file(p, i);
	}
	return JO_OUTPUT_ASKED;
}

int jo_output_opened(const jo_process *p, const struct stat *st)
{
	for (int i = 0; i < 2; i++)
		if (is(i, st) && is_file(i) && !JO_WITHOUT(SOUGHT))
			return as_file(p, i);
	return 0;
}

int jo_output_stands(const struct stat *st)
{
	jo_output_pass();
	return streams[is(0, st) ? 0 : 1].pass;
}

/* ---- passing on */

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

/* of_one_file reports whether both streams stand for one file, and just one of them is used as a
 * file. */
static int of_one_file(void)
{
	struct stat a, b;
	return streams[0].file + streams[1].file == 1 && fstat(streams[0].pass, &a) == 0 &&
	       fstat(streams[1].pass, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* pass_files makes the files equal to the streams that are used as files. */
static void pass_files(int end)
{
	for (int i = 0; i < 2; i++)
		if (streams[i].file)
			sync_file(i, end);
}

/* The stream that was written to at the last stop. What is new in the other was written later, by a
 * descriptor at which nobody stops. */
static int last;

static void pass_rest(void)
{
	struct stat st;
	for (int n = 0; n < 2; n++) {
		int i = JO_WITHOUT(LATER) ? n : n ^ last;
		if (streams[i].file)
			continue;
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
			streams[i].passed = streams[i].noted; /* nobody will get it */
		if (streams[i].pass >= 0 || streams[i].error != 0)
			fallocate(
				streams[i].fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)streams[i].passed);
	}
}

void jo_output_pass(void)
{
	int one = of_one_file();
	uint64_t noted = streams[0].noted + streams[1].noted;
	pass_files(one);
	pass_rest();
	/* What came into the file from the other stream comes into this one, too. If nothing did, a write
	 * that goes on beside this must not be lost. */
	for (int i = 0; i < 2 && one && streams[0].noted + streams[1].noted != noted; i++)
		if (streams[i].file)
			begin_file(i);
}

void jo_output_tick(void)
{
	if (!of_one_file())
		jo_output_pass();
}

void jo_output_end(void)
{
	pass_files(1);
	pass_rest();
}

int jo_output_stop(pid_t id, int fd)
{
	char path[64];
	struct stat st;
	if (fd != 1 && fd != 2)
		return JO_OUTPUT_OTHER;
	jo_output_pass();
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)id, fd);
	if (stat(path, &st) != 0 || !jo_output_is(&st))
		return JO_OUTPUT_NOTED;
	last = !is(0, &st);
	if (streams[last].error == 0)
		return JO_OUTPUT_NOTED;
	streams[last].said = 1;
	return -streams[last].error;
}
