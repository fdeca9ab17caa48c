/* image.c: asks the loader for the libraries of the process. */
#include "image.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/mutex/mutex.h"

/* dl_iterate_phdr holds a lock of glibc that fork does not free in the child. Threads with
 * hits ask here all the time. If a fork did not wait for them, its child could hang at its
 * next dlopen or C++ exception. */
static jc_mutex asking = JC_MUTEX(JC_RANK_LOADER);

void jc_dl_fork_prepare(void) { jc_mutex_lock(&asking); }

void jc_dl_fork_parent(void) { jc_mutex_unlock(&asking); }

void jc_dl_fork_child(void) { jc_mutex_init(&asking, JC_RANK_LOADER); }

static void ask(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	jc_mutex_lock(&asking);
	dl_iterate_phdr(callback, data);
	jc_mutex_unlock(&asking);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
	return 1; /* every library says the same */
}

uint64_t jc_dl_generation(void)
{
	uint64_t generation = 0;
	ask(count_loads, &generation);
	return generation;
}

struct wanted {
	const char *prefix;
	jc_dl_image *out;
	int max, count;
};

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct wanted *w = data;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash != NULL ? slash + 1 : info->dlpi_name;
	if (strncmp(base, w->prefix, strlen(w->prefix)) != 0 || strlen(info->dlpi_name) >= JC_DL_PATH)
		return 0;
	if (w->count++ >= w->max)
		return 0;
	jc_dl_image *image = &w->out[w->count - 1];
	image->base = info->dlpi_addr;
	strcpy(image->path, info->dlpi_name);
	return 0;
}

int jc_dl_images(const char *prefix, jc_dl_image *out, int max)
{
	struct wanted w = {prefix, out, max, 0};
	ask(collect, &w);
	return w.count;
}

int jc_dl_resident(const char *path, uintptr_t *base, char out[JC_DL_PATH])
{
	struct link_map *map;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle == NULL)
		return 0;
	int ok = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && strlen(map->l_name) < JC_DL_PATH;
	if (ok) {
		*base = map->l_addr;
		strcpy(out, map->l_name);
	}
	dlclose(handle);
	return ok;
}

size_t jc_dl_folders(char *out, size_t size)
{
	Dl_serinfo head, *all = NULL;
	size_t n = 0;
	void *self = dlopen(NULL, RTLD_LAZY);
	if (self == NULL)
		return 0;
	if (dlinfo(self, RTLD_DI_SERINFOSIZE, &head) == 0 && (all = malloc(head.dls_size)) != NULL) {
		*all = head;
		if (dlinfo(self, RTLD_DI_SERINFO, all) != 0)
			all->dls_cnt = 0;
		for (unsigned i = 0; i < all->dls_cnt; i++) {
			size_t len = strlen(all->dls_serpath[i].dls_name);
			if (len + 1 > size - n)
				break;
			memcpy(out + n, all->dls_serpath[i].dls_name, len);
			out[n + len] = '\n';
			n += len + 1;
		}
	}
	free(all);
	dlclose(self);
	return n;
}

void *jc_dl_open(const char *path, int resident, char *why, size_t size)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | (resident ? RTLD_NOLOAD : 0));
	if (handle == NULL) {
		const char *text = dlerror();
		snprintf(why, size, "%s", text != NULL ? text : "no longer loaded");
	}
	return handle;
}

void *jc_dl_symbol(void *handle, const char *name) { return dlsym(handle, name); }
