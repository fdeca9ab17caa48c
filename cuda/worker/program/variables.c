/* variables.c: the getenv that NVRTC calls, and the variables that it has asked for. */
#include "variables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "wire.h"

typedef struct variable {
	struct variable *next;
	char *value; /* NULL: there is none now */
	char *last;  /* the last value. Older ones are not freed: NVRTC may hold pointers to them */
	int asked;
	char name[];
} variable;

static variable *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

extern char **environ;

/* real is the C library's getenv. It also finds variables that NVRTC sets itself. */
static char *real(const char *name)
{
	size_t n = strlen(name);
	for (char **e = environ; e != NULL && *e != NULL; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* find returns the entry of a name of n bytes, making one if there is none. */
static variable *find(const char *name, size_t n)
{
	variable *v = all;
	while (v != NULL && (strncmp(v->name, name, n) != 0 || v->name[n] != 0))
		v = v->next;
	if (v == NULL && (v = calloc(1, sizeof *v + n + 1)) != NULL) {
		memcpy(v->name, name, n);
		v->next = all;
		all = v;
	}
	return v;
}

static char *ask(const char *name)
{
	/* PWD is the folder's name. */
	if (name == NULL || (strcmp(name, "PWD") == 0 && !jw_folder_shown()))
		return NULL;
	pthread_mutex_lock(&lock);
	variable *v = find(name, strlen(name));
	char *value = real(name);
	if (v != NULL) {
		v->asked = 1;
		value = value == NULL ? v->value : value;
	}
	pthread_mutex_unlock(&lock);
	return value;
}

/* The functions by which libraries ask; the last is that of glibc before 2.17. */
#define IS_ASK __attribute__((visibility("default"), alias("ask")))
extern char *getenv(const char *name) IS_ASK;
extern char *secure_getenv(const char *name) IS_ASK;
extern char *__secure_getenv(const char *name) IS_ASK;

void jw_variables_begin(void)
{
	pthread_mutex_lock(&lock);
	for (variable *v = all; v != NULL; v = v->next)
		v->value = NULL;
	pthread_mutex_unlock(&lock);
}

void jw_variables_set(const char *text)
{
	const char *end = strchr(text, '=');
	if (end == NULL)
		return;
	pthread_mutex_lock(&lock);
	variable *v = find(text, (size_t)(end - text));
	if (v != NULL && v->value == NULL) { /* the first of two counts */
		if (v->last == NULL || strcmp(v->last, end + 1) != 0)
			v->last = strdup(end + 1);
		v->value = v->last;
	}
	pthread_mutex_unlock(&lock);
}

void jw_variables_tell(void)
{
	pthread_mutex_lock(&lock);
	for (const variable *v = all; v != NULL; v = v->next)
		if (v->asked)
			jw_add_text(JW_ASKED, v->name);
	pthread_mutex_unlock(&lock);
}
