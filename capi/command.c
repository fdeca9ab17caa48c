/* command.c: the command line of a program of its own. */
#include <stdlib.h>

#include "core.h"
#include "options.h"
#include "runtime.h"
#include "thread.h"

int32_t jitcache_main(int32_t argc, const char *const *argv)
{
	jc_thread_unwind();
	if (argc < 1 || argv == NULL)
		return 2;
	const jc_core *core = jc_core_get();
	if (core == NULL) {
		jc_no_core();
		return 2;
	}
	char *settings;
	size_t size;
	if (jc_settings(0, &settings, &size) != JITCACHE_OK)
		return 2;
	int32_t status = core->main(argc, (char **)argv, settings, size);
	free(settings);
	return status;
}
