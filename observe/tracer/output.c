#include "output.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

static struct {
	int fd, pass;
	uint64_t noted, passed;
} streams[2] = {{-1, -1, 0, 0}, {-1, -1, 0, 0}};

void jo_output_start(int out, int err, int pass_out, int pass_err)
{
	streams[0].fd = out;
	streams[1].fd = err;
	streams[0].pass = pass_out;
	streams[1].pass = pass_err;
}

/* pass_on copies what is new. A reader that is gone is the command's business,
 * which has written to a file: the rest is dropped. */
static void pass_on(int i, uint64_t size)
{
	char buffer[65536];
	while (streams[i].pass >= 0 && streams[i].passed < size) {
		uint64_t left = size - streams[i].passed;
		ssize_t n = pread(streams[i].fd, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer,
			(off_t)streams[i].passed);
		for (ssize_t done = 0, w; done < n; done += w) {
			w = write(streams[i].pass, buffer + done, (size_t)(n - done));
			if (w < 0 && errno == EINTR)
				w = 0;
			if (w < 0) {
				streams[i].pass = -1;
				return;
			}
		}
		if (n <= 0)
			return;
		streams[i].passed += (uint64_t)n;
	}
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
	}
}

int jo_output_stop(int fd)
{
	if (fd != 1 && fd != 2)
		return 0;
	jo_output_pass();
	return 1;
}
