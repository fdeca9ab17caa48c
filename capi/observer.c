/* observer.c: where jitcache-observe is. */
#include "observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "second_runtime.h"

const char *jc_observer_path(void)
{
	/* Relative to the library's folder. */
	static const char *const places[] = {"jitcache-observe", "../libexec/jitcache/jitcache-observe",
		"../../libexec/jitcache/jitcache-observe" /* lib/x86_64-linux-gnu */};
	static char found[4096];
	const char *library = jc_library_path(), *given = secure_getenv("JITCACHE_OBSERVER");
	const char *end = strrchr(library, '/');
	if (given != NULL && *given == '/' && (size_t)snprintf(found, sizeof found, "%s", given) < sizeof found)
		return found;
	for (size_t i = 0; end != NULL && i < sizeof places / sizeof *places; i++) {
		int n = snprintf(found, sizeof found, "%.*s/%s", (int)(end - library), library, places[i]);
		if (n > 0 && (size_t)n < sizeof found && access(found, X_OK) == 0)
			return found;
	}
	return "";
}
