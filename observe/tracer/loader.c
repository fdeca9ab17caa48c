/* loader.c: finds the loader in a process's mappings, to tell whether it is the one that reads. */
#include "loader.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* base returns where the kernel has put the loader; 0: nowhere, because the program has none or is the
 * loader itself, or unknown. */
static uint64_t base(const jo_process *p)
{
	char path[64];
	Elf64_auxv_t one;
	uint64_t at = 0;
	snprintf(path, sizeof path, "/proc/%d/auxv", (int)p->id);
	FILE *all = fopen(path, "re");
	while (all != NULL && fread(&one, sizeof one, 1, all) == 1)
		if (one.a_type == AT_BASE)
			at = one.a_un.a_val;
	if (all != NULL)
		fclose(all);
	return at;
}

/* The file that is mapped at an address. */
typedef struct {
	unsigned major, minor;
	unsigned long inode;
} mapped;

static int same(const mapped *a, const mapped *b)
{
	return a->inode != 0 && a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* in_loader reports whether the call that a process makes stands in the file that is mapped at an
 * address. */
static int in_loader(const jo_process *p, uint64_t loader)
{
	char path[64], line[512];
	mapped there = {0}, here = {0};
	snprintf(path, sizeof path, "/proc/%d/maps", (int)p->id);
	FILE *all = fopen(path, "re");
	while (all != NULL && fgets(line, sizeof line, all) != NULL) {
		unsigned long from, to;
		mapped m;
		if (sscanf(line, "%lx-%lx %*s %*x %x:%x %lu", &from, &to, &m.major, &m.minor, &m.inode) != 5)
			continue; /* the rest of a long line */
		if (from <= loader && loader < to)
			there = m;
		if (from <= p->code && p->code < to)
			here = m;
	}
	if (all != NULL)
		fclose(all);
	return same(&there, &here);
}

int jo_loader_reads(const jo_process *p, const char *path)
{
	if (strcmp(path, "/etc/ld.so.cache") != 0)
		return 0;
	uint64_t loader = base(p);
	return loader != 0 && in_loader(p, loader);
}
