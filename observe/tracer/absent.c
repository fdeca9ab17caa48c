#include "absent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "stamp.h"

/* A listing costs what two hundred looks cost, for a folder of a thousand names:
 * it is read after so many misses, and believed for so long. What appears in the
 * meantime was not there a moment ago, as if the tree had looked a moment
 * earlier: and it is told what the report says. */
enum { MISSES = 32, BELIEVED_MS = 50, FOLDERS = 1024, LONGEST = 4096 };

typedef struct folder {
	char path[LONGEST];
	int misses, error; /* why it cannot be read, 0: it was */
	int64_t read;      /* ms; 0: not yet */
	char *names;       /* one after the other, each with a NUL */
	uint32_t *places;  /* offsets in names, plus one, by hash */
	size_t room;       /* of places: a power of two */
} folder;

static folder *folders[FOLDERS];

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static uint32_t hash_of(const char *s, size_t n)
{
	uint32_t h = UINT32_C(2166136261);
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * UINT32_C(16777619);
	return h;
}

/* folder_of returns the folder part of a path, and where its last part begins;
 * NULL for paths that do not end in a plain name. */
static folder *folder_of(const char *path, const char **base, int make)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash == NULL ? 0 : (size_t)(slash - path);
	if (n == 0 || n >= LONGEST || slash[1] == 0 || strlen(slash + 1) > 255 || strcmp(slash + 1, ".") == 0 || strcmp(slash + 1, "..") == 0)
		return NULL;
	*base = slash + 1;
	folder **place = &folders[hash_of(path, n) % FOLDERS];
	if (*place != NULL && strncmp((*place)->path, path, n) == 0 && (*place)->path[n] == 0)
		return *place;
	if (!make)
		return NULL;
	if (*place == NULL)
		*place = calloc(1, sizeof **place);
	folder *f = *place;
	if (f == NULL)
		return NULL;
	memcpy(f->path, path, n);
	f->path[n] = 0;
	f->misses = 0;
	f->read = 0;
	return f;
}

static void add(folder *f, uint32_t at)
{
	size_t i = hash_of(f->names + at, strlen(f->names + at)) & (f->room - 1);
	while (f->places[i] != 0)
		i = (i + 1) & (f->room - 1);
	f->places[i] = at + 1;
}

/* read_names reads a folder. 0: there is no memory. */
static int read_names(folder *f)
{
	size_t used = 0, room = 0, count = 0;
	free(f->names);
	free(f->places);
	f->names = NULL;
	f->places = NULL;
	errno = 0;
	DIR *d = opendir(f->path);
	f->error = d == NULL ? errno : 0;
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL; count++) {
		size_t n = strlen(e->d_name) + 1;
		if (used + n > room) {
			room = room * 2 + 4096;
			char *more = realloc(f->names, room);
			if (more == NULL) {
				closedir(d);
				return 0;
			}
			f->names = more;
		}
		memcpy(f->names + used, e->d_name, n);
		used += n;
	}
	if (d != NULL)
		closedir(d);
	if (used + 1 > room || f->names == NULL) {
		char *more = realloc(f->names, used + 1);
		if (more == NULL)
			return 0;
		f->names = more;
	}
	f->names[used] = 0;
	for (f->room = 64; f->room < count * 2;)
		f->room *= 2;
	f->places = calloc(f->room, sizeof *f->places);
	for (size_t at = 0; f->places != NULL && at < used; at += strlen(f->names + at) + 1)
		add(f, (uint32_t)at);
	return f->places != NULL;
}

static int has(const folder *f, const char *base)
{
	for (size_t i = hash_of(base, strlen(base)) & (f->room - 1); f->places[i] != 0; i = (i + 1) & (f->room - 1))
		if (strcmp(f->names + f->places[i] - 1, base) == 0)
			return 1;
	return 0;
}

/* folds reports whether a folder finds a name in another case too. */
static int folds(const folder *f)
{
	char path[LONGEST + 256];
	struct stat st;
	for (const char *name = f->names; name != NULL && *name != 0; name += strlen(name) + 1)
		for (const char *c = name; *c != 0; c++) {
			if (!isalpha((unsigned char)*c))
				continue;
			int n = snprintf(path, sizeof path, "%s/%s", f->path, name);
			char *turned = path + (size_t)n - strlen(name) + (c - name);
			*turned = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c) : toupper((unsigned char)*c));
			return !has(f, strrchr(path, '/') + 1) && lstat(path, &st) == 0;
		}
	return 0;
}

int jo_absent(const char *path)
{
	const char *base;
	folder *f = folder_of(path, &base, 0);
	if (f == NULL || f->misses < MISSES)
		return 0;
	int64_t now = now_ms();
	if (f->read == 0 || now - f->read > BELIEVED_MS) {
		f->read = now;
		if (!read_names(f) || (f->error == 0 && (!jo_stamp_lists_all(f->path) || folds(f))))
			f->misses = INT32_MIN; /* never */
		if (f->misses < 0)
			return 0;
	}
	if (f->error == ENOENT || f->error == ENOTDIR)
		return f->error;
	return f->error != 0 || has(f, base) ? 0 : ENOENT;
}

void jo_absent_missed(const char *path, int error)
{
	const char *base;
	if (error != ENOENT && error != ENOTDIR)
		return;
	folder *f = folder_of(path, &base, 1);
	if (f != NULL && f->misses >= 0 && f->misses < MISSES)
		f->misses++;
}

void jo_absent_forget(void)
{
	for (int i = 0; i < FOLDERS; i++)
		if (folders[i] != NULL && folders[i]->misses > 0) {
			folders[i]->misses = 0;
			folders[i]->read = 0;
		}
}
