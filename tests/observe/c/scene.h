/* scene.h: small programs for the observer's tests, each with a name. They check that
 * every call does what it does without an observer, and print nothing if so. */
#ifndef SCENE_H
#define SCENE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* must ends the program with a line that says which condition does not hold. */
#define must(condition) \
	do { \
		errno = 0; \
		if (!(condition)) { \
			dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
			_exit(1); \
		} \
	} while (0)

/* fails says of a call that it has to fail with an errno. */
#define fails(call, with) must((call) < 0 && errno == (with))

typedef struct scene {
	const char *name;
	void (*act)(void);
} scene;

/* play plays the scene that is named. */
static inline int play(const scene *scenes, size_t n, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < n; i++)
		if (strcmp(scenes[i].name, argv[1]) == 0) {
			scenes[i].act();
			return 0;
		}
	dprintf(2, "no scene %s\n", argc > 1 ? argv[1] : "");
	return 2;
}

#endif
