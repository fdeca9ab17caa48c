/* driver.c: contexts and modules of the fake driver. */
#define _GNU_SOURCE
#include "driver.h"
#include "knobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pid_t initialised;
static uint64_t contexts_made;
static context contexts[64];
static module *modules;

/* The contexts that are current in a thread, the last on top. */
static __thread struct {
	context *context;
	uint64_t id;
} stack[32];
static __thread int depth;

/* capability returns the compute capability of a device, 10 * major + minor. */
int capability(int device)
{
	const char *s = getenv("FAKECUDA_CC");
	for (; s != NULL && device > 0 && strchr(s, ',') != NULL; device--)
		s = strchr(s, ',') + 1;
	return s != NULL && *s != 0 ? atoi(s) : 80;
}

int enter(const char *call, int needs_init)
{
	pthread_mutex_lock(&lock);
	int code = knob_failure("FAKECUDA_FAIL", call);
	if (code == SUCCESS && needs_init && initialised != getpid())
		code = ERROR_NOT_INITIALIZED;
	if (code == SUCCESS)
		knob_log("FAKECUDA_LOG", "%s", call);
	else
		knob_log("FAKECUDA_LOG", "%s %d", call, code);
	return code;
}

int leave(int code)
{
	pthread_mutex_unlock(&lock);
	return code;
}

/* Modules. */

/* say fills the buffers for logs among a load's options. */
static void say(unsigned n, const int *options, void **values, const char *text)
{
	enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
	char *out = NULL;
	size_t size = 0;
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == ERROR_LOG)
			out = values[i];
		if (options[i] == ERROR_LOG_SIZE)
			size = (size_t)(uintptr_t)values[i];
	}
	if (out != NULL && size > 0)
		snprintf(out, size, "%s", text);
}

int load(module **out, const void *image, context *owner, unsigned n, const int *options, void **values)
{
	int device = owner != NULL ? owner->device : 0;
	size_t size = 0;
	if (out == NULL || image == NULL)
		return ERROR_INVALID_VALUE;
	static const int codes[] = {SUCCESS, ERROR_INVALID_IMAGE, ERROR_NO_BINARY_FOR_GPU, ERROR_INVALID_PTX};
	int code = codes[image_check(image, capability(device), &size)];
	if (code != SUCCESS) {
		char text[96];
		snprintf(text, sizeof text, "fake driver: image of %zu bytes, device of sm_%d", size,
			capability(device));
		say(n, options, values, text);
		return code;
	}
	module *m = calloc(1, sizeof *m);
	m->image = malloc(size + 1);
	memcpy(m->image, image, size);
	m->image[size] = 0;
	m->size = size;
	m->owner = owner;
	m->owner_id = owner != NULL ? owner->id : 0;
	m->next = modules;
	*out = modules = m;
	return SUCCESS;
}

int is_live(const module *m)
{
	for (const module *i = modules; i != NULL; i = i->next)
		if (i == m)
			return 1;
	return 0;
}

void drop(module *m)
{
	module **at = &modules;
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	while (m->functions != NULL) {
		function *f = m->functions;
		m->functions = f->next;
		free(f);
	}
	free(m->image);
	free(m);
}

int find_function(function **out, module *m, const char *name)
{
	if (out == NULL || name == NULL)
		return ERROR_INVALID_VALUE;
	if (!is_live(m))
		return ERROR_INVALID_HANDLE;
	if (!image_has(m->image, name))
		return ERROR_NOT_FOUND;
	function *f = m->functions;
	while (f != NULL && strcmp(f->name, name) != 0)
		f = f->next;
	if (f == NULL) {
		f = malloc(sizeof *f + strlen(name) + 1);
		strcpy(f->name, name);
		f->module = m;
		f->next = m->functions;
		m->functions = f;
	}
	*out = f;
	return SUCCESS;
}

/* Contexts. */

/* current returns the context that is current, or the error that it is not. */
int current(context **out)
{
	if (depth == 0 || stack[depth - 1].context == NULL)
		return ERROR_INVALID_CONTEXT;
	*out = stack[depth - 1].context;
	return (*out)->alive && (*out)->id == stack[depth - 1].id ? SUCCESS : ERROR_CONTEXT_IS_DESTROYED;
}

int is_context(const context *c)
{
	return c >= contexts && c < contexts + sizeof contexts / sizeof *contexts && c->alive;
}

int push(context *c)
{
	if (depth == sizeof stack / sizeof *stack)
		return ERROR_OUT_OF_MEMORY;
	stack[depth].context = c;
	stack[depth++].id = c != NULL ? c->id : 0;
	return SUCCESS;
}

context *make(int device, int primary)
{
	for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
		if (!contexts[i].alive) {
			contexts[i] = (context){++contexts_made, device, 1, primary, 1};
			return &contexts[i];
		}
	}
	return NULL;
}

void destroy(context *c)
{
	for (module *m = modules, *next; m != NULL; m = next) {
		next = m->next;
		if (m->owner == c && m->owner_id == c->id)
			drop(m);
	}
	c->alive = 0;
}

context *primary(int device)
{
	for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
		if (contexts[i].alive && contexts[i].primary && contexts[i].device == device)
			return &contexts[i];
	return NULL;
}

int pop(context **out)
{
	if (depth == 0)
		return 0;
	depth--;
	if (out != NULL)
		*out = stack[depth].context;
	return 1;
}

int init(void)
{
	if (initialised == 0)
		initialised = getpid();
	return initialised == getpid() ? SUCCESS : ERROR_NOT_INITIALIZED;
}

int is_device(int device) { return device >= 0 && device < knob_number("FAKECUDA_DEVICES", 1); }
