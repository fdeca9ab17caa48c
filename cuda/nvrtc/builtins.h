/* builtins.h: NVRTC's library of builtins.
 *
 * NVRTC opens it at its first compile, by a name without a folder. Most versions have a path
 * in their ELF header by which the loader finds it beside them. NVIDIA's wheel of 13.0 has
 * none, and then finds it only if it is loaded already. So it is loaded here. */
#ifndef JC_NVRTC_BUILTINS_H
#define JC_NVRTC_BUILTINS_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* jc_nvrtc_load_builtins loads the builtins beside an NVRTC that is loaded from path, with local
 * symbols: the loader gives a loaded library to who asks for its name. If the process has
 * loaded builtins of that name from anywhere, it keeps those. If there are none beside NVRTC,
 * nothing is done: NVRTC then looks for them by itself, and says it if it finds none. */
static inline void jc_nvrtc_load_builtins(const char *path, int major, int minor)
{
	const char *slash = strrchr(path, '/');
	int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
	char name[64], beside[PATH_MAX];
	/* libnvrtc.alt.so, another build beside the usual one, has builtins of its own. */
	const char *build = strstr(path + folder, ".alt.so") != NULL ? ".alt" : "";
	snprintf(name, sizeof name, "libnvrtc-builtins%s.so.%d.%d", build, major, minor);
	int n = snprintf(beside, sizeof beside, "%.*s%s", folder, path, name);
	if (folder > 0 && n < (int)sizeof beside && dlopen(name, RTLD_LAZY | RTLD_NOLOAD) == NULL)
		dlopen(beside, RTLD_LAZY | RTLD_LOCAL);
}

#endif
