/* walk.c: follows the readlink calls of a process from folder to folder. */
#include "walk.h"

#include <string.h>
#include <sys/stat.h>

#include "control.h"
#include "import.h"
#include "names.h"
#include "use.h"

/* within reports whether a path is that of a name in a folder. */
static int within(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return n > 1 && strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1] != 0 &&
	       strchr(path + n + 1, '/') == NULL;
}

static int is_root(const char *path) { return path[0] == '/' && path[1] == 0; }

/* at_top reports whether a path is that of a name in the root. */
static int at_top(const char *path) { return path[0] == '/' && path[1] != 0 && strchr(path + 1, '/') == NULL; }

static void asked(const jo_process *p, jo_name *name) { name->asked |= jo_use_program(p); }

/* If the last step was at p->way, the walk ends there: the process has asked. Else it has passed
 * through that folder. */
void jo_walk_end(jo_process *p)
{
	if (p->way != NULL && p->way_ends)
		asked(p, p->way);
	p->way = NULL;
	p->way_ends = 0;
}

void jo_walk_text(jo_process *p, const char *path)
{
	if (p->way == NULL || !within(path, p->way->path))
		jo_walk_end(p);
	p->way_ends = 0;
}

void jo_walk_step(jo_process *p, const char *path)
{
	jo_name *name = jo_name_of(path);
	int begins = at_top(path) && (p->way == NULL || !is_root(p->way->path));
	int goes_on = p->way != NULL && within(path, p->way->path);
	if (goes_on)
		p->way_ends = 0;
	else
		jo_walk_end(p);
	int passes = (goes_on || begins) && (name->bits & JO_PLAIN) && (name->stamp.mode & S_IFMT) == S_IFDIR;
	/* Python walks to its own sources, too, and wants to know whether they are links. */
	int ends = (goes_on || begins) && (name->bits & JO_PLAIN) && jo_import_source(path);
	if ((!passes && !ends) || JO_WITHOUT(WALKS))
		asked(p, name);
	if (passes || is_root(path)) {
		p->way = name;
		p->way_ends = passes;
	} /* else, if the path is a link, the walk goes on in the same folder, or from the root */
}
