/* log.c: the queue of lines, and the host's callback. */
#include "log.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core.h"
#include "locks.h"

typedef struct line {
	struct line *next;
	int32_t level;
	char *text;
} line;

static line *first, **last = &first;
static _Atomic int queued;
static jitcache_log_fn callback;
static void *callback_user;

void jc_log_push(int32_t level, char *text)
{
	line *l = malloc(sizeof *l);
	if (l == NULL) {
		free(text);
		return;
	}
	*l = (line){NULL, level, text};
	jc_mutex_lock(&jc_log_lock);
	*last = l;
	last = &l->next;
	atomic_fetch_add(&queued, 1);
	jc_mutex_unlock(&jc_log_lock);
}

static line *pop(jitcache_log_fn *fn, void **user)
{
	jc_mutex_lock(&jc_log_lock);
	line *l = callback != NULL ? first : NULL;
	if (l != NULL) {
		first = l->next;
		if (first == NULL)
			last = &first;
		atomic_fetch_sub(&queued, 1);
	}
	*fn = callback;
	*user = callback_user;
	jc_mutex_unlock(&jc_log_lock);
	return l;
}

void jc_log_drain(void)
{
	jitcache_log_fn fn;
	void *user;
	line *l;
	jc_rank_none();
	if (atomic_load_explicit(&queued, memory_order_relaxed) == 0)
		return;
	while ((l = pop(&fn, &user)) != NULL) {
		int32_t level = l->level;
		char *text = l->text;
		free(l);
		fn(user, level, text);
		free(text); /* leaks if fn throws: a line of text */
	}
}

int32_t jitcache_set_log(jitcache_log_fn fn, void *user)
{
	jc_mutex_lock(&jc_log_lock);
	callback = fn;
	callback_user = user;
	jc_mutex_unlock(&jc_log_lock);
	jc_log_drain();
	return JITCACHE_OK;
}
