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
