#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* A table of strings: open addressing, a power of two of places, at most two
 * thirds full. A compile with forty -I and eight hundred headers looks for
 * thirty thousand names. */
typedef struct table {
	void **places; /* of things that begin with their path */
	uint32_t *hashes;
	size_t room, used;
} table;

/* Things are allocated in blocks, and never freed: the tracer ends with the tree. */
static void *allocate(size_t size)
{
	static char *block;
	static size_t left;
	size = (size + 7) & ~(size_t)7;
	if (size > left) {
		left = size > 1 << 18 ? size : 1 << 18;
		block = malloc(left);
		if (block == NULL)
			_exit(125);
	}
	left -= size;
	block += size;
	return memset(block - size, 0, size);
}

static char *copy(const char *s, size_t n)
{
	char *c = allocate(n + 1);
	memcpy(c, s, n);
	return c;
}

/* FNV-1a, with the length. */
static uint32_t hash_of(const char *s, size_t *length)
{
	uint32_t h = UINT32_C(2166136261);
	const char *p = s;
	for (; *p != 0; p++)
		h = (h ^ (uint8_t)*p) * UINT32_C(16777619);
	*length = (size_t)(p - s);
	return h;
}

static const char *path_of(const void *thing) { return *(char *const *)thing; }

static size_t place_of(const table *t, const char *path, uint32_t hash)
{
	size_t i = hash & (t->room - 1);
	while (t->places[i] != NULL && (t->hashes[i] != hash || strcmp(path_of(t->places[i]), path) != 0))
		i = (i + 1) & (t->room - 1);
	return i;
}

static void grow(table *t)
{
	table old = *t;
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

/* find returns the thing of a path; with size it makes one of that many bytes if
 * there is none. */
static void *find(table *t, const char *path, size_t size, int *fresh)
{
	size_t length;
	uint32_t hash = hash_of(path, &length);
	if (t->used * 3 >= t->room * 2) {
		if (size == 0 && t->room == 0)
			return NULL;
		grow(t);
	}
	size_t at = place_of(t, path, hash);
	if (fresh != NULL)
		*fresh = t->places[at] == NULL;
	if (t->places[at] == NULL && size != 0) {
		char **thing = allocate(size);
		*thing = copy(path, length);
		t->places[at] = thing;
		t->hashes[at] = hash;
		t->used++;
	}
	return t->places[at];
}

static table names;

jo_name *jo_name_of(const char *path, int *fresh)
{
	jo_name *n = find(&names, path, sizeof *n, fresh);
	if (n->length == 0)
		n->length = (uint32_t)strlen(path);
	return n;
}

void jo_name_text(jo_name *name, const char *text, size_t length)
{
	name->text = copy(text, length);
	name->bits |= JO_TEXT;
}

typedef struct opened {
	char *real;
	jo_name *by;
	uint32_t form;
} opened;

static table folders;

const char *jo_name_folder(const char *real, uint32_t *form)
{
	opened *o = find(&folders, real, 0, NULL);
	*form = o == NULL ? JO_ABSOLUTE : o->form;
	return o == NULL ? real : o->by->path;
}

void jo_name_opened(jo_name *name, const char *real, uint32_t form)
{
	opened *o = find(&folders, real, sizeof *o, NULL);
	o->by = name;
	o->form = form;
}

typedef struct made {
	char *real;
	uint32_t how;
} made;

static table writes;
static int made_folders;

/* A bit for each last part of a path that was written, by its hash. */
static uint64_t last_parts[16];

static uint32_t last_part(const char *path)
{
	size_t length;
	const char *slash = strrchr(path, '/');
	return hash_of(slash == NULL ? path : slash + 1, &length) & 1023;
}

int jo_wrote_any(void) { return writes.used != 0; }

int jo_may_be_written(const char *path)
{
	if (writes.used == 0 || made_folders)
		return made_folders;
	uint32_t h = last_part(path);
	/* ".", ".." and a slash at the end are another file's names. */
	char last = path[strlen(path) - 1];
	return last == '.' || last == '/' || (last_parts[h / 64] >> (h % 64) & 1) != 0;
}

uint32_t jo_written(const char *real)
{
	made *m = find(&writes, real, 0, NULL);
	return m == NULL ? 0 : m->how;
}

uint32_t jo_written_in(const char *real)
{
	uint32_t how = jo_written(real);
	if (how != 0 || !made_folders)
		return how;
	char above[8192];
	size_t n = strlen(real);
	if (n >= sizeof above)
		return 0;
	memcpy(above, real, n + 1);
	for (char *slash; (slash = strrchr(above, '/')) != NULL && slash != above;) {
		*slash = 0;
		how = jo_written(above);
		if ((how & (JO_CREATED | JO_FOLDER)) == (JO_CREATED | JO_FOLDER))
			return how;
	}
	return 0;
}

void jo_write(const char *real, uint32_t set, uint32_t clear)
{
	made *m = find(&writes, real, sizeof *m, NULL);
	uint32_t h = last_part(real);
	last_parts[h / 64] |= UINT64_C(1) << (h % 64);
	m->how = (m->how & ~clear) | set;
	made_folders |= (set & JO_FOLDER) != 0;
}

static void report_name(jo_name *n, const char *(*real)(const char *path))
{
	if (jo_may_be_written(n->path)) {
		const char *path = real(n->path);
		if (path != NULL && jo_written(path) != 0)
			n->bits |= JO_MADE;
	}
	jo_report_begin(JO_NAME);
	jo_report_u32(n->bits);
	jo_report_u32(n->stamp.mode);
	jo_report_u32((uint32_t)n->stamp.error);
	jo_report_u64(n->statted);
	jo_report_u64(n->programs);
	jo_report_string(n->path, n->length);
	if (n->stamp.mode != 0) {
		const jo_stamp *s = &n->stamp;
		const uint64_t numbers[] = {
			s->dev, s->ino, s->size, (uint64_t)s->mtime, (uint64_t)s->ctime, (uint64_t)s->taken, s->mount};
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			jo_report_u64(numbers[i]);
	}
	if (n->bits & JO_TEXT)
		jo_report_string(n->text, strlen(n->text));
	jo_report_end();
}

void jo_names_report(const char *(*real)(const char *path))
{
	for (size_t i = 0; i < names.room; i++) {
		jo_name *n = names.places[i];
		/* Without bits it is the tree's own. */
		if (n != NULL && n->bits != 0)
			report_name(n, real);
	}
	for (size_t i = 0; i < writes.room; i++) {
		made *m = writes.places[i];
		if (m == NULL)
			continue;
		jo_report_begin(JO_WRITTEN);
		jo_report_u32(m->how);
		jo_report_string(m->real, strlen(m->real));
		jo_report_end();
	}
}
