/* Wrong use gets a status and harms nobody. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

static void null_is_an_argument_error(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_lease *l;
	size_t n;
	uint64_t u;
	const void *p;
	CHECK(jitcache_options_new(NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_options_set(NULL, "directory", "x") == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_open(NULL, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_close(NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_new(NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_add(NULL, "a", "b", 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_add(k, NULL, "b", 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_add(k, "a", NULL, 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_add_file(k, "a", NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_add_packed(k, NULL, 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_set_name(k, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_set_kind(k, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_hex(k, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_save(k, NULL, 10, &n) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_load(NULL, 0, &k) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_key_from_digest(NULL, &k) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get(NULL, k, &b) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get(c, NULL, &b) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get(c, k, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get_data(c, k, &b, &p, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get_into(c, k, NULL, 1, &n) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get_into(c, k, &n, sizeof n, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_put(c, k, NULL, 1, NULL, 0) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_put(c, k, "x", 1, NULL, 64) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_put(c, k, NULL, 0, NULL, 64) == JITCACHE_ERR_ARGUMENT);
	CHECK(strstr(jitcache_last_error(), "flags") != NULL);
	CHECK(jitcache_acquire(c, k, -1, NULL, &l) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_acquire(c, k, -2, &b, &l) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_commit(NULL, "x", 1, NULL, &b) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_get_or_compile(c, k, -1, NULL, NULL, &b) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_remove(c, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_trim(NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_count(c, NULL) == JITCACHE_ERR_ARGUMENT && jitcache_count(NULL, &u) == JITCACHE_ERR_ARGUMENT);
	jitcache_cursor *cursor;
	CHECK(jitcache_cursor_new(c, NULL, NULL) == JITCACHE_ERR_ARGUMENT &&
		jitcache_cursor_new(NULL, NULL, &cursor) == JITCACHE_ERR_ARGUMENT && cursor == NULL);
	CHECK(jitcache_cursor_next(NULL, &b) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_stats(c, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_explain(c, k, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_blob_path(NULL, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_blob_data(NULL) == NULL && jitcache_blob_size(NULL) == 0);
	CHECK(strcmp(jitcache_blob_attributes(NULL), "") == 0 && strcmp(jitcache_blob_kind(NULL), "") == 0);
	CHECK(jitcache_epoch(NULL) == NULL);
	CHECK(strlen(jitcache_last_error()) > 0 && strchr(jitcache_last_error(), '\n') == NULL);
	jitcache_options_free(NULL);
	jitcache_key_free(NULL);
	jitcache_blob_release(NULL);
	jitcache_blob_retain(NULL);
	jitcache_lease_free(NULL);
	jitcache_cursor_free(NULL);
	CHECK(jitcache_close(c) == JITCACHE_OK);
}

static void stale_and_foreign_handles_are_found_out(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x"), *gone = make_key("y");
	jitcache_blob *b, *old;
	const char *path;
	jitcache_key_free(gone);
	jitcache_key_free(gone);
	CHECK(jitcache_get(c, gone, &b) == JITCACHE_ERR_HANDLE);
	CHECK(jitcache_key_add(gone, "a", "b", 1) == JITCACHE_ERR_HANDLE);
	/* Whatever takes the place of a freed handle is not reached through it. */
	for (int i = 0; i < 1000; i++) {
		jitcache_key *n = make_key("z");
		CHECK(n != gone);
		CHECK(jitcache_key_add(gone, "a", "b", 1) == JITCACHE_ERR_HANDLE);
		jitcache_key_free(n);
	}
	CHECK(jitcache_get((jitcache_cache *)(void *)k, k, &b) == JITCACHE_ERR_HANDLE);
	CHECK(jitcache_get(c, (jitcache_key *)(void *)c, &b) == JITCACHE_ERR_HANDLE);
	CHECK(jitcache_close((jitcache_cache *)(void *)k) == JITCACHE_ERR_HANDLE);
	jitcache_put(c, k, "x", 1, NULL, 0);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK);
	old = b;
	jitcache_blob_retain(b);
	jitcache_blob_release(b);
	CHECK(jitcache_blob_size(b) == 1);
	jitcache_blob_release(b);
	CHECK(jitcache_blob_size(b) == 0 && jitcache_blob_path(b, &path) == JITCACHE_ERR_HANDLE);
	jitcache_blob_release(b);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && b != old);
	jitcache_blob_release(old);
	CHECK(jitcache_blob_size(b) == 1);
	jitcache_blob_release(b);
	jitcache_cursor *cursor;
	CHECK(jitcache_cursor_new(c, NULL, &cursor) == JITCACHE_OK);
	CHECK(jitcache_cursor_next(cursor, NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_cursor_next((jitcache_cursor *)(void *)c, &b) == JITCACHE_ERR_HANDLE && b == NULL);
	jitcache_cursor_free(cursor);
	jitcache_cursor_free(cursor);
	CHECK(jitcache_cursor_next(cursor, &b) == JITCACHE_ERR_HANDLE);
	int local = 0;
	uintptr_t junk[] = {1, 2, 3, 4, 5, 15, 0xffff, (uintptr_t)-1, (uintptr_t)&local, 0x5000000000000012u};
	for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
		CHECK(jitcache_get((jitcache_cache *)junk[i], k, &b) == JITCACHE_ERR_HANDLE);
		CHECK(jitcache_blob_data((jitcache_blob *)junk[i]) == NULL);
		jitcache_key_free((jitcache_key *)junk[i]);
	}
	CHECK(jitcache_close(c) == JITCACHE_OK);
	CHECK(jitcache_close(c) == JITCACHE_ERR_HANDLE);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_ERR_HANDLE);
	jitcache_key_free(k);
}

static void bad_values_are_named(void)
{
	static const char *const bad[][2] = {{"max_size", "much"}, {"memory_size", "-1"}, {"durable", "perhaps"},
		{"trust", "me"}, {"file_system", "tape"}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		jitcache_options *o;
		jitcache_cache *c;
		jitcache_options_new(&o);
		CHECK(jitcache_options_set(o, bad[i][0], bad[i][1]) == JITCACHE_OK);
		CHECK(jitcache_open(o, &c) == JITCACHE_ERR_OPTION && c == NULL);
		CHECK(strstr(jitcache_last_error(), bad[i][0]) != NULL &&
			strstr(jitcache_last_error(), bad[i][1]) != NULL);
		CHECK(jitcache_options_set(o, "no_such_option", "1") == JITCACHE_ERR_OPTION);
		CHECK(strstr(jitcache_last_error(), "no_such_option") != NULL);
		jitcache_options_free(o);
		CHECK(jitcache_options_set(o, "durable", "1") == JITCACHE_ERR_HANDLE);
	}
}

static void bad_keys_are_named(void)
{
	jitcache_key *k;
	char label[2000];
	memset(label, 'x', sizeof label);
	label[sizeof label - 1] = 0;
	jitcache_key_new(&k);
	CHECK(jitcache_key_add(k, "", "x", 1) == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_add(k, label, "x", 1) == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_add(k, "a", "x", 1) == JITCACHE_OK);
	CHECK(jitcache_key_add(k, "a", "y", 1) == JITCACHE_ERR_KEY && strstr(jitcache_last_error(), "\"a\"") != NULL);
	CHECK(jitcache_key_set_name(k, label) == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_set_kind(k, "Upper") == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_set_kind(k, "seventeen-letters") == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_add_packed(k, "b", 1) == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_add_packed(k, "b\1\0\0\0\0\0\0\0\0\0a", 12) == JITCACHE_ERR_KEY); /* "a" is there */
	CHECK(jitcache_key_add_packed(k, "b\1\0\377\0\0\0\0\0\0\377c", 12) == JITCACHE_ERR_KEY);
	CHECK(jitcache_key_add_packed(k, "b\1\0\0\0\0\0\0\0\0\0c", 12) == JITCACHE_OK);
	jitcache_key_free(k);
}

static void attributes_that_are_no_object_are_an_error(void)
{
	static const char *const bad[] = {"", "[]", "1", "{", "{}x", "null"};
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_lease *l;
	/* "" is none, and the only one of these that is fine. */
	CHECK(jitcache_put(c, k, "x", 1, bad[0], 0) == JITCACHE_OK);
	CHECK(jitcache_remove(c, k) == JITCACHE_OK);
	for (size_t i = 1; i < sizeof bad / sizeof bad[0]; i++) {
		CHECK(jitcache_put(c, k, "x", 1, bad[i], 0) == JITCACHE_ERR_ATTRIBUTES);
		CHECK(jitcache_acquire(c, k, -1, &b, &l) == JITCACHE_LEASE);
		CHECK(jitcache_commit(l, "x", 1, bad[i], &b) == JITCACHE_ERR_ATTRIBUTES && b == NULL);
	}
	CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS);
	jitcache_key_free(k);
	jitcache_close(c);
}

static void *use(void *p)
{
	jitcache_cache *c = (jitcache_cache *)p;
	for (int i = 0; i < 2000; i++) {
		jitcache_key *k = make_key("x");
		jitcache_blob *b;
		int32_t status = jitcache_get(c, k, &b);
		if (status == JITCACHE_OK)
			jitcache_blob_release(b);
		else if (status == JITCACHE_MISS)
			jitcache_put(c, k, "x", 1, NULL, 0);
		else
			CHECK(status == JITCACHE_ERR_HANDLE);
		jitcache_key_free(k);
	}
	return NULL;
}

static void close_while_others_are_inside_is_safe(void)
{
	for (int round = 0; round < 10; round++) {
		jitcache_cache *c = open_cache(round % 2 ? "1Mi" : "0");
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, use, c);
		CHECK(jitcache_close(c) == JITCACHE_OK);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
}

static void key_that_is_freed_is_kept_by_its_lease(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_lease *l;
	CHECK(jitcache_acquire(c, k, -1, &b, &l) == JITCACHE_LEASE);
	jitcache_key_free(k);
	CHECK(jitcache_close(c) == JITCACHE_OK);
	CHECK(jitcache_commit(l, "code", 4, NULL, &b) == JITCACHE_OK && blob_is(b, "code"));
	c = open_cache("0");
	k = make_key("x");
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "code"));
	jitcache_key_free(k);
	jitcache_close(c);
}

int main(int argc, char **argv)
{
	RUN(null_is_an_argument_error);
	RUN(stale_and_foreign_handles_are_found_out);
	RUN(bad_values_are_named);
	RUN(bad_keys_are_named);
	RUN(attributes_that_are_no_object_are_an_error);
	RUN(close_while_others_are_inside_is_safe);
	RUN(key_that_is_freed_is_kept_by_its_lease);
	DONE;
}
