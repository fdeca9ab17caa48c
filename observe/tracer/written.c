/* written.c: the table of files that were made, changed or removed. */
#include "written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real.h"
#include "report.h"
#include "table.h"

typedef struct made {
	char *real;
	uint32_t how, forms;
	uint32_t asked, mode, group; /* jo_write_asked, jo_write_over */
	char *name;                  /* as the tree wrote it; NULL: unknown */
} made;

static jo_table writes;
static int made_folders;

/* A bit, by its hash, for the last part of each path that was written. */
static uint64_t last_parts[16];

static uint32_t last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return jo_hash(slash == NULL ? path : slash + 1) & 1023;
}

int jo_wrote_any(void) { return writes.used != 0; }

int jo_may_be_written(const char *path)
{
	if (writes.used == 0 || made_folders)
		return made_folders;
	uint32_t h = last_part(path);
	/* A path that ends in ".", ".." or a slash has the last part of another name. */
	char last = path[strlen(path) - 1];
	return last == '.' || last == '/' || (last_parts[h / 64] >> (h % 64) & 1) != 0;
}

uint32_t jo_written(const char *real)
{
	const made *m = jo_table_find(&writes, real, 0);
	return m == NULL ? 0 : m->how;
}

uint32_t jo_written_in(const char *real)
{
	char above[JO_PATH];
	uint32_t how = jo_written(real);
	size_t n = strlen(real);
	if (how != 0 || !made_folders || n >= sizeof above)
		return how;
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
	made *m = jo_table_find(&writes, real, sizeof *m);
	uint32_t h = last_part(real);
	last_parts[h / 64] |= UINT64_C(1) << (h % 64);
	m->how = (m->how & ~clear) | set;
	made_folders |= (set & JO_FOLDER) != 0;
}

void jo_write_asked(const char *real, uint32_t mode)
{
	made *m = jo_table_find(&writes, real, 0);
	if (m != NULL)
		m->asked = mode;
}

void jo_write_over(const char *real, uint32_t mode, uint32_t group)
{
	made *m = jo_table_find(&writes, real, 0);
	if (m == NULL)
		return;
	m->mode = mode;
	m->group = group;
}

void jo_write_name(const char *real, const char *name, uint32_t form)
{
	made *m = jo_table_find(&writes, real, 0);
	if (m == NULL)
		return;
	m->forms |= form;
	if (m->name == NULL || strcmp(m->name, name) != 0)
		m->name = jo_copy(name, strlen(name));
}

void jo_written_moved(const char *from, const char *to, const char *name, uint32_t form)
{
	size_t n = strlen(from), at = 0, count = 0;
	made **below = calloc(writes.used + 1, sizeof *below);
	if (below == NULL)
		_exit(125);
	for (made *m; (m = jo_table_next(&writes, &at)) != NULL;)
		if (strncmp(m->real, from, n) == 0 && m->real[n] == '/' && (m->how & JO_REMOVED) == 0)
			below[count++] = m;
	for (size_t i = 0; i < count; i++) {
		char path[JO_PATH], named[JO_PATH];
		if (snprintf(path, sizeof path, "%s%s", to, below[i]->real + n) < (int)sizeof path)
			jo_write(path, JO_CREATED | (below[i]->how & JO_FOLDER), JO_REMOVED);
		if (snprintf(named, sizeof named, "%s%s", name, below[i]->real + n) < (int)sizeof named)
			jo_write_name(path, named, form);
		below[i]->how |= JO_REMOVED;
	}
	free(below);
}

void jo_written_report(void)
{
	size_t at = 0;
	for (const made *m; (m = jo_table_next(&writes, &at)) != NULL;) {
		jo_report_begin(JO_WRITTEN);
		jo_report_u32(m->how | m->forms);
		jo_report_u32(m->asked);
		jo_report_u32(m->mode);
		jo_report_u32(m->group);
		jo_report_string(m->real, strlen(m->real));
		jo_report_string(m->name == NULL ? "" : m->name, m->name == NULL ? 0 : strlen(m->name));
		jo_report_end();
	}
}
