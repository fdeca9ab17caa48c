/* names.c: the table of names, and what was done with each. */
#include "names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "table.h"
#include "written.h"

static jo_table names;

jo_name *jo_name_of(const char *path) { return jo_table_find(&names, path, sizeof(jo_name)); }

jo_name *jo_name_next(size_t *at) { return jo_table_next(&names, at); }

void jo_name_text(jo_name *name, const char *text, size_t length)
{
	name->text = jo_copy(text, length);
	name->bits |= JO_TEXT;
}

int jo_name_has_permit(const jo_name *name, uint32_t how)
{
	const jo_permit *a = name->permits;
	while (a != NULL && a->how != how)
		a = a->next;
	return a != NULL;
}

void jo_name_permit(jo_name *name, uint32_t how, uint32_t error)
{
	jo_permit *a = malloc(sizeof *a);
	if (a == NULL)
		_exit(125);
	*a = (jo_permit){name->permits, how, error};
	name->permits = a;
	name->bits |= JO_PERMITTED;
}

/* ---- folders */

typedef struct opened {
	char *real;
	const jo_name *by;
	uint32_t form;
} opened;

static jo_table folders;

const char *jo_name_folder(const char *real, uint32_t *form)
{
	const opened *o = jo_table_find(&folders, real, 0);
	*form = o == NULL ? JO_ABSOLUTE : o->form;
	return o == NULL ? real : o->by->path;
}

const char *jo_name_opened(const jo_name *name, const char *real, uint32_t form)
{
	opened *o = jo_table_find(&folders, real, sizeof *o);
	const char *before = o->by == NULL || o->by == name ? NULL : o->by->path;
	o->by = name;
	o->form = form;
	return before;
}

/* ---- the report */

static void report(jo_name *n, const char *(*real)(const char *path))
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
	jo_report_u64(n->readers);
	jo_report_u64(n->asked);
	jo_report_string(n->path, strlen(n->path));
	if (n->stamp.mode != 0) {
		const jo_stamp *s = &n->stamp;
		const uint64_t numbers[] = {
			s->dev, s->ino, s->size, (uint64_t)s->mtime, (uint64_t)s->ctime, (uint64_t)s->taken, s->mount};
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			jo_report_u64(numbers[i]);
	}
	if (n->bits & JO_TEXT)
		jo_report_string(n->text, strlen(n->text));
	if (n->bits & JO_PERMITTED) /* to the end of the record */
		for (const jo_permit *a = n->permits; a != NULL; a = a->next) {
			jo_report_u32(a->how);
			jo_report_u32(a->error);
		}
	jo_report_end();
}

void jo_names_report(const char *(*real)(const char *path))
{
	size_t at = 0;
	for (jo_name *n; (n = jo_name_next(&at)) != NULL;)
		if (n->bits & (JO_FOLLOWED | JO_TEXT)) /* else the name is no input, but the tree's own */
			report(n, real);
}
