/* table.c: adds and finds items. */
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* allocate returns zeroed memory out of large blocks, which are never freed. */
static void *allocate(size_t size)
{
	static char *block;
	static size_t left;
	size = (size + 7) & ~(size_t)7;
	if (size > left) {
		left = size > 1 << 18 ? size : 1 << 18;
		block = malloc(left);
		if (block == NULL)
			_exit(125); /* the report has no JO_END: the result is not kept */
	}
	left -= size;
	block += size;
	return memset(block - size, 0, size);
}

char *jo_copy(const char *s, size_t n)
{
	char *c = allocate(n + 1);
	memcpy(c, s, n);
	return c;
}

uint32_t jo_hash(const char *s)
{
	uint32_t h = UINT32_C(2166136261);
	for (; *s != 0; s++)
		h = (h ^ (uint8_t)*s) * UINT32_C(16777619);
	return h;
}

static const char *path_of(const void *thing) { return *(char *const *)thing; }

static size_t place_of(const jo_table *t, const char *path, uint32_t hash)
{
	size_t i = hash & (t->room - 1);
	while (t->places[i] != NULL && (t->hashes[i] != hash || strcmp(path_of(t->places[i]), path) != 0))
		i = (i + 1) & (t->room - 1);
	return i;
}

static void grow(jo_table *t)
{
	jo_table old = *t;
	t->room = old.room == 0 ? 1024 : old.room * 2;
	t->places = calloc(t->room, sizeof *t->places);
	t->hashes = calloc(t->room, sizeof *t->hashes);
	if (t->places == NULL || t->hashes == NULL)
		_exit(125);
	for (size_t i = 0; i < old.room; i++) {
		if (old.places[i] == NULL)
			continue;
		size_t at = place_of(t, path_of(old.places[i]), old.hashes[i]);
		t->places[at] = old.places[i];
		t->hashes[at] = old.hashes[i];
	}
	free(old.places);
	free(old.hashes);
}

void *jo_table_find(jo_table *t, const char *path, size_t size)
{
	if (size == 0 && t->room == 0)
		return NULL;
	if (size != 0 && t->used * 3 >= t->room * 2)
		grow(t);
	uint32_t hash = jo_hash(path);
	size_t at = place_of(t, path, hash);
	if (t->places[at] == NULL && size != 0) {
		char **thing = allocate(size);
		*thing = jo_copy(path, strlen(path));
		t->places[at] = thing;
		t->hashes[at] = hash;
		t->used++;
	}
	return t->places[at];
}

void *jo_table_next(const jo_table *t, size_t *at)
{
	while (*at < t->room) {
		void *thing = t->places[(*at)++];
		if (thing != NULL)
			return thing;
	}
	return NULL;
}
