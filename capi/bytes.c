/* bytes.c: appends bytes and numbers, and reads them. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

int jc_bytes_reserve(jc_bytes *b, size_t n)
{
	if (b->room - b->size >= n)
		return 1;
	if (n > SIZE_MAX / 4 || b->size > SIZE_MAX / 4)
		return 0;
	size_t room = b->size + n + b->size / 2 + 256;
	uint8_t *data = realloc(b->data, room);
	if (data == NULL)
		return 0;
	b->data = data;
	b->room = room;
	return 1;
}

void jc_bytes_append(jc_bytes *b, const void *p, size_t n)
{
	if (n > 0)
		memcpy(b->data + b->size, p, n);
	b->size += n;
}

/* Four bytes at a time, like putHex in core/store/read.go. */
void jc_hex(char *out, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4) {
		uint64_t x = jc_little(p + i, 4);
		/* One half-byte in each byte, in the order of the digits. */
		x = (x | x << 16) & 0x0000ffff0000ffff;
		x = (x | x << 8) & 0x00ff00ff00ff00ff;
		x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0f;
		uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101; /* 10 and above */
		jc_put_little((uint8_t *)out + 2 * i, x + 0x3030303030303030 + letters * ('a' - '0' - 10), 8);
	}
}

uint64_t jc_little(const uint8_t *p, int n)
{
	uint64_t v = 0;
	for (int i = n; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

void jc_put_little(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}
