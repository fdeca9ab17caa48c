/* report.c: writes records. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out = -1;
static uint8_t *buffer;
static size_t used, room, begun;

static void grow(size_t n)
{
	if (used + n <= room)
		return;
	room = (used + n) * 2 + 65536;
	buffer = realloc(buffer, room);
	if (buffer == NULL)
		_exit(125); /* the report has no JO_END: the result is not kept */
}

void jo_report_open(int fd) { out = fd; }

void jo_report_flush(void)
{
	for (size_t done = 0; done < used;) {
		ssize_t n = write(out, buffer + done, used - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(125);
		done += (size_t)n;
	}
	used = 0;
}

void jo_report_drop(void)
{
	used = 0;
	if (ftruncate(out, 0) != 0 || lseek(out, 0, SEEK_SET) != 0)
		_exit(125);
}

static void put(uint64_t v, size_t n)
{
	grow(n);
	for (size_t i = 0; i < n; i++)
		buffer[used++] = (uint8_t)(v >> (8 * i));
}

void jo_report_begin(int letter)
{
	if (used > 1 << 20)
		jo_report_flush();
	put((uint64_t)letter, 1);
	begun = used;
	put(0, 4);
}

void jo_report_u32(uint32_t v) { put(v, 4); }
void jo_report_u64(uint64_t v) { put(v, 8); }

void jo_report_string(const char *s, size_t n)
{
	put(n, 4);
	grow(n);
	memcpy(buffer + used, s, n);
	used += n;
}

static void set_size(uint64_t size)
{
	for (size_t i = 0; i < 4; i++)
		buffer[begun + i] = (uint8_t)(size >> (8 * i));
}

void jo_report_end(void) { set_size(used - begun - 4); }

void jo_report_copy(int fd, uint64_t size)
{
	set_size(used - begun - 4 + size);
	for (uint64_t done = 0; done < size;) {
		size_t step = size - done < 65536 ? (size_t)(size - done) : 65536;
		grow(step);
		ssize_t n = pread(fd, buffer + used, step, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			memset(buffer + used, 0, step);
			n = (ssize_t)step;
		}
		used += (size_t)n;
		done += (uint64_t)n;
		if (used > 1 << 20)
			jo_report_flush();
	}
}
