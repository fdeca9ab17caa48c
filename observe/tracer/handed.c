/* handed.c: recognises descriptors that lead to files which no name has shown. */
#include "handed.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "control.h"
#include "names.h"
#include "use.h"

/* handed notes that a process has an open file. The tree may have opened it by several names. */
static void handed(const jo_process *p, const struct stat *st)
{
	size_t at = 0;
	for (jo_name *name; (name = jo_name_next(&at)) != NULL;) {
		if ((name->bits & JO_READ) == 0 || name->stamp.mode == 0 || name->stamp.ino != st->st_ino ||
			name->stamp.dev != st->st_dev)
			continue;
		name->programs |= jo_use_program(p);
		name->readers |= jo_use_program(p);
	}
}

void jo_handed(const jo_process *p)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)p->id);
	DIR *d = JO_WITHOUT(HANDED) ? NULL : opendir(path);
	if (d == NULL)
		return;
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
			(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			handed(p, &st);
	closedir(d);
}
