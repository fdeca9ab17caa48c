/* options.c: sets options, and packs them for the core. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "bytes.h"
#include "core.h"
#include "thread.h"

/* All options, as in core.OptionNames; TestOptionsAreTheSameInCAndGoAndInTheManual
 * compares the two. */
static const char *const known[] = {
	"directory", "max_size", "memory_size", "durable", "shared", "readonly", "trust", "lock_dir", "file_system"};

typedef struct options {
	char *values[sizeof known / sizeof known[0]];
} options;

static void destroy(void *object, jc_extra *extra)
{
	(void)extra;
	options *o = object;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		free(o->values[i]);
	free(o);
}

int32_t jitcache_options_new(jitcache_options **out)
{
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "options: NULL");
	*out = NULL;
	options *o = calloc(1, sizeof *o);
	jc_handle h = o == NULL ? 0 : jc_handle_new(JC_OPTIONS, o, (jc_extra){0}, destroy);
	if (h == 0) {
		free(o);
		return jc_fail(JITCACHE_ERR_MEMORY, "options: no memory");
	}
	*out = JC_POINTER(jitcache_options, h);
	return JITCACHE_OK;
}

static int index_of(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i], name) == 0)
			return (int)i;
	return -1;
}

int32_t jitcache_options_set(jitcache_options *handle, const char *name, const char *value)
{
	if (name == NULL || value == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "option: NULL");
	options *o = jc_handle_enter(JC_HANDLE(handle), JC_OPTIONS);
	if (o == NULL)
		return jc_bad_handle(handle, "options");
	int32_t status = JITCACHE_OK;
	int i = index_of(name);
	if (i < 0) {
		status = jc_fail(JITCACHE_ERR_OPTION, "option \"%.100s\": no such option", name);
	} else {
		char *copy = strdup(value);
		if (copy == NULL) {
			status = jc_fail(JITCACHE_ERR_MEMORY, "option \"%s\": no memory", name);
		} else {
			free(o->values[i]);
			o->values[i] = copy;
		}
	}
	jc_handle_leave(JC_HANDLE(handle));
	return status;
}

void jitcache_options_free(jitcache_options *handle)
{
	if (handle != NULL && !jc_handle_close(JC_HANDLE(handle), JC_OPTIONS))
		jc_bad_handle(handle, "options");
}

/* ---- settings: options and environment in one block, see jc_core.open */

/* append appends a text of n bytes and a NUL, and returns 0 if there is no memory. */
static int append(jc_bytes *b, const char *text, size_t n)
{
	if (!jc_bytes_reserve(b, n + 1))
		return 0;
	jc_bytes_append(b, text, n);
	jc_bytes_append(b, "", 1);
	return 1;
}

/* The variables that the core reads: its own, and those that say where a user's
 * files belong. */
static int wanted(const char *entry)
{
	static const char *const names[] = {"HOME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=",
		"TMPDIR=", "CUDA_HOME=", "CUDA_PATH=", "SLURM_JOB_ID=",
		/* For the helper of remotes: remote.Passed. */
		"PATH=", "AWS_", "SSL_CERT_",
		"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy="};
	if (strncmp(entry, "JITCACHE", 8) == 0)
		return 1;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

extern char **environ;

static int append_environment(jc_bytes *b)
{
	/* A user who starts a program that runs with another user's rights must not choose
	 * whose code the program loads. */
	if (getauxval(AT_SECURE) != 0)
		return 1;
	for (char **e = environ; e != NULL && *e != NULL; e++) {
		const char *equals = strchr(*e, '=');
		if (equals == NULL || !wanted(*e))
			continue;
		if (!append(b, *e, (size_t)(equals - *e)) || !append(b, equals + 1, strlen(equals + 1)))
			return 0;
	}
	return 1;
}

static int append_options(jc_bytes *b, const options *o)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (o->values[i] != NULL &&
			(!append(b, known[i], strlen(known[i])) || !append(b, o->values[i], strlen(o->values[i]))))
			return 0;
	return 1;
}

int32_t jc_settings(jc_handle h, char **settings, size_t *size)
{
	jc_bytes b = {0};
	int ok = 1;
	if (h != 0) {
		options *o = jc_handle_enter(h, JC_OPTIONS);
		if (o == NULL)
			return jc_bad_handle(JC_POINTER(void, h), "options");
		ok = append_options(&b, o);
		jc_handle_leave(h);
	}
	if (!ok || !append(&b, "", 0) || !append_environment(&b)) {
		free(b.data);
		return jc_fail(JITCACHE_ERR_MEMORY, "options: no memory");
	}
	*settings = (char *)b.data;
	*size = b.size;
	return JITCACHE_OK;
}
