/* wire.c: builds, sends and receives messages. */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The message to send: 8 bytes for its size, and parts. */
static struct {
	char *data;
	size_t size, room;
} out;

static void grow(size_t n)
{
	if (out.size + n <= out.room)
		return;
	out.room = (out.size + n) * 2 + 65536;
	out.data = realloc(out.data, out.room);
	if (out.data == NULL)
		_exit(1);
}

static void put(const void *data, size_t n)
{
	if (out.size == 0) {
		grow(8);
		out.size = 8;
	}
	grow(n);
	if (n > 0)
		memcpy(out.data + out.size, data, n);
	out.size += n;
}

void jw_add(char letter, const void *data, size_t size)
{
	uint64_t n = size;
	put(&letter, 1);
	put(&n, sizeof n); /* x86_64 and aarch64 are little-endian */
	put(data, size);
}

void jw_add_text(char letter, const char *text) { jw_add(letter, text, strlen(text)); }
void jw_add_number(char letter, uint32_t number) { jw_add(letter, &number, sizeof number); }

void jw_send(int fd)
{
	put(NULL, 0);
	uint64_t size = out.size - 8;
	memcpy(out.data, &size, sizeof size);
	for (size_t done = 0; done < out.size;) {
		ssize_t n = write(fd, out.data + done, out.size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		done += (size_t)n;
	}
	out.size = 0;
}

static int take(int fd, void *into, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)into + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

int jw_receive(int fd, jw_part **parts, size_t *found)
{
	static char *data;
	static jw_part *all;
	static size_t room;
	uint64_t size, n;
	size_t count = 0;
	if (!take(fd, &size, sizeof size))
		return 0;
	free(data);
	data = malloc(size + 1);
	if (data == NULL)
		_exit(1);
	if (!take(fd, data, size))
		return 0;
	data[size] = 0;
	for (char *at = data, *end = data + size; end - at >= 9; at += n) {
		char letter = *at;
		memcpy(&n, at + 1, sizeof n);
		at[0] = 0; /* ends the part before */
		at += 9;
		if (n > (uint64_t)(end - at))
			_exit(1);
		if (count == room) {
			room = room * 2 + 64;
			all = realloc(all, room * sizeof *all);
			if (all == NULL)
				_exit(1);
		}
		all[count++] = (jw_part){letter, at, n};
	}
	*parts = all;
	*found = count;
	return 1;
}
