/* import.c: recognises Python's questions about .py and .pyc files. */
#include "import.h"

#include <stdio.h>
#include <string.h>

#include "control.h"
#include "names.h"
#include "real.h"
#include "table.h"

/* How often Python itself calls stat on a source, and opens one that it was started with. */
enum { STATS = 2, OPENS = 2 };

/* What a process did with a source. */
typedef struct source {
	char *path; /* which execve has begun the process's program, and the path */
	int stats, opens;
} source;

static jo_table sources;

static int ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);
	return n > m && strcmp(path + n - m, end) == 0;
}

int jo_import_source(const char *path) { return ends_in(path, ".py"); }

int jo_import_asks(const jo_process *p, const char *path, uint32_t bits)
{
	char key[JO_PATH + 32];
	if (JO_WITHOUT(IMPORTS))
		return 0;
	if (!jo_import_source(path) && (!ends_in(path, ".pyc") || strstr(path, "/__pycache__/") != NULL))
		return (bits & JO_STATTED) != 0;
	snprintf(key, sizeof key, "%d%s", p->group->begun, path);
	source *s = jo_table_find(&sources, key, sizeof *s);
	s->stats += (bits & JO_STATTED) != 0;
	s->opens += (bits & JO_READ) != 0;
	return s->stats > STATS || s->opens > OPENS;
}
