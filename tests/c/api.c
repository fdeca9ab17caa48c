/* What the header promises, used as a stranger would. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

static void what_is_put_is_there(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS);
	CHECK(b == NULL);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_ABSENT);
	CHECK(jitcache_put(c, k, "code", 4, "{\"a\": 1}", 0) == JITCACHE_OK);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK);
	CHECK(strcmp(jitcache_blob_attributes(b), "{\"a\": 1}") == 0);
	CHECK(strcmp(jitcache_blob_kind(b), "generic") == 0);
	CHECK(strcmp(jitcache_blob_name(b), "") == 0);
	CHECK((uintptr_t)jitcache_blob_data(b) % 64 == 0);
	CHECK(((const char *)jitcache_blob_data(b))[4] == 0);
	CHECK(blob_is(b, "code"));
	CHECK(jitcache_close(c) == JITCACHE_OK);
	c = open_cache("0");
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK);
	CHECK(jitcache_close(c) == JITCACHE_OK);
	CHECK(blob_is(b, "code")); /* a blob outlives its cache */
	jitcache_key_free(k);
}

static void data_and_size_come_with_the_handle(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	const void *data = &b;
	size_t size = 77;
	CHECK(jitcache_get_data(c, k, &b, &data, &size) == JITCACHE_MISS);
	CHECK(data == &b && size == 77);
	jitcache_put(c, k, "code", 4, NULL, 0);
	CHECK(jitcache_get_data(c, k, &b, &data, &size) == JITCACHE_OK);
	CHECK(data == jitcache_blob_data(b) && size == 4);
	jitcache_blob_release(b);
	jitcache_key_free(k);
	jitcache_close(c);
}

static void get_into_says_how_much_it_needs(void)
{
	static const char *const memory[] = {"0", "1Mi"};
	for (int i = 0; i < 2; i++) {
		jitcache_cache *c = open_cache(memory[i]);
		jitcache_key *k = make_key("x");
		char buffer[2048];
		size_t size;
		jitcache_put(c, k, "0123456789", 10, NULL, 0);
		CHECK(jitcache_get_into(c, k, NULL, 0, &size) == JITCACHE_TOO_SMALL && size == 10);
		CHECK(jitcache_get_into(c, k, buffer, 9, &size) == JITCACHE_TOO_SMALL && size == 10);
		CHECK(jitcache_get_into(c, k, buffer, 10, &size) == JITCACHE_OK &&
			memcmp(buffer, "0123456789", 10) == 0);
		memset(buffer, 0, sizeof buffer);
		CHECK(jitcache_get_into(c, k, buffer, sizeof buffer, &size) == JITCACHE_OK && size == 10);
		CHECK(memcmp(buffer, "0123456789", 10) == 0);
		jitcache_key_free(k);
		jitcache_close(c);
	}
}

static void replace_replaces_and_nothing_else_does(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	CHECK(jitcache_put(c, k, "first", 5, NULL, 0) == JITCACHE_OK);
	CHECK(jitcache_put(c, k, "second", 6, NULL, 0) == JITCACHE_OK);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "first"));
	CHECK(jitcache_put(c, k, "second", 6, NULL, JITCACHE_REPLACE) == JITCACHE_OK);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "second"));
	CHECK(jitcache_remove(c, k) == JITCACHE_OK);
	CHECK(jitcache_remove(c, k) == JITCACHE_MISS);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS);
	jitcache_key_free(k);
	jitcache_close(c);
}

static void empty_payload_is_a_payload(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	CHECK(jitcache_put(c, k, NULL, 0, NULL, 0) == JITCACHE_OK);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK);
	CHECK(jitcache_blob_data(b) != NULL && jitcache_blob_size(b) == 0);
	jitcache_blob_release(b);
	jitcache_key_free(k);
	jitcache_close(c);
}

static void path_opens_and_is_never_given_twice(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x");
	char last[4096] = "";
	jitcache_put(c, k, "\177ELFcode", 8, NULL, 0);
	for (int i = 0; i < 5; i++) {
		jitcache_blob *b;
		const char *path, *again;
		char bytes[8] = "";
		CHECK(jitcache_get(c, k, &b) == JITCACHE_OK);
		CHECK(jitcache_blob_path(b, &path) == JITCACHE_OK);
		CHECK(jitcache_blob_path(b, &again) == JITCACHE_OK && again == path);
		jitcache_clear(c, NULL);
		jitcache_put(c, k, "\177ELFcode", 8, NULL, 0);
		FILE *f = fopen(path, "rb");
		CHECK(f != NULL && fread(bytes, 1, 8, f) == 8 && memcmp(bytes, "\177ELFcode", 8) == 0);
		if (f != NULL)
			fclose(f);
		CHECK(strcmp(path, last) != 0);
		snprintf(last, sizeof last, "%s", path);
		jitcache_blob_release(b);
		CHECK(access(last, F_OK) != 0);
	}
	jitcache_key_free(k);
	jitcache_close(c);
}

static void keys_are_what_is_in_them(void)
{
	jitcache_key *a, *b, *c;
	char ha[65], hb[65], hc[65];
	jitcache_key_new(&a);
	jitcache_key_new(&b);
	CHECK(jitcache_key_add(a, "x", "1", 1) == JITCACHE_OK);
	CHECK(jitcache_key_add(a, "y", "2", 1) == JITCACHE_OK);
	CHECK(jitcache_key_add(b, "y", "2", 1) == JITCACHE_OK);
	CHECK(jitcache_key_add(b, "x", "1", 1) == JITCACHE_OK);
	CHECK(jitcache_key_set_name(b, "name") == JITCACHE_OK);
	CHECK(jitcache_key_set_kind(b, "cubin") == JITCACHE_OK);
	CHECK(jitcache_key_hex(a, ha) == JITCACHE_OK && strlen(ha) == 64);
	CHECK(jitcache_key_hex(b, hb) == JITCACHE_OK && strcmp(ha, hb) == 0);
	CHECK(jitcache_key_add(a, "z", "3", 1) == JITCACHE_ERR_FROZEN);
	CHECK(jitcache_key_set_name(a, "late") == JITCACHE_ERR_FROZEN);

	unsigned char saved[1024], digest[32];
	size_t size;
	CHECK(jitcache_key_save(b, NULL, 0, &size) == JITCACHE_TOO_SMALL);
	CHECK(jitcache_key_save(b, saved, sizeof saved, &size) == JITCACHE_OK);
	CHECK(jitcache_key_load(saved, size, &c) == JITCACHE_OK);
	CHECK(jitcache_key_hex(c, hc) == JITCACHE_OK && strcmp(ha, hc) == 0);
	jitcache_key_free(c);
	CHECK(jitcache_key_load(saved, size - 1, &c) == JITCACHE_ERR_KEY && c == NULL);
	for (int i = 0; i < 32; i++) {
		unsigned v;
		sscanf(ha + 2 * i, "%2x", &v);
		digest[i] = (unsigned char)v;
	}
	CHECK(jitcache_key_from_digest(digest, &c) == JITCACHE_OK);
	CHECK(jitcache_key_hex(c, hc) == JITCACHE_OK && strcmp(ha, hc) == 0);
	jitcache_key_free(a);
	jitcache_key_free(b);
	jitcache_key_free(c);
}

/* jitcache:control noinputs */
static void file_that_changes_is_noticed(void)
{
	char path[5000];
	snprintf(path, sizeof path, "%s.header", check_dir);
	FILE *f = fopen(path, "w");
	fputs("before", f);
	fclose(f);
	jitcache_cache *c = open_cache("0");
	jitcache_key *k;
	jitcache_key_new(&k);
	CHECK(jitcache_key_add_file(k, "header", path) == JITCACHE_OK);
	CHECK(jitcache_key_add_tool(k, "tool", "/bin/sh") == JITCACHE_OK);
	f = fopen(path, "w");
	fputs("edited", f);
	fclose(f);
	CHECK(jitcache_put(c, k, "x", 1, NULL, 0) == JITCACHE_NOT_STORED);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_INPUT_CHANGED);
	CHECK(jitcache_key_add_file(k, "late", path) == JITCACHE_ERR_FROZEN);
	jitcache_key_free(k);
	jitcache_key_new(&k);
	CHECK(jitcache_key_add_file(k, "f", "/does/not/exist") == JITCACHE_ERR_INPUT);
	CHECK(strstr(jitcache_last_error(), "/does/not/exist") != NULL);
	jitcache_key_free(k);
	jitcache_close(c);
	remove(path);
}

static void lease_is_for_one(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_lease *l, *other;
	CHECK(jitcache_acquire(c, k, -1, &b, &l) == JITCACHE_LEASE && b == NULL && l != NULL);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_ABSENT);
	/* This thread holds a lease: it is never made to wait. */
	CHECK(jitcache_acquire(c, k, -1, &b, &other) == JITCACHE_LEASE);
	jitcache_lease_free(other);
	CHECK(jitcache_commit(l, "code", 4, NULL, &b) == JITCACHE_OK && blob_is(b, "code"));
	CHECK(jitcache_commit(l, "code", 4, NULL, NULL) == JITCACHE_ERR_HANDLE);
	jitcache_lease_free(l); /* after a commit it is fine */
	jitcache_lease_free(NULL);
	CHECK(jitcache_acquire(c, k, 0, &b, &l) == JITCACHE_OK && l == NULL && blob_is(b, "code"));
	jitcache_key_free(k);
	jitcache_close(c);
}

static void *ask_while_held(void *p)
{
	void **a = (void **)p;
	jitcache_blob *b;
	jitcache_lease *l;
	CHECK(jitcache_acquire((jitcache_cache *)a[0], (jitcache_key *)a[1], 5000, &b, &l) == JITCACHE_BUSY &&
		l == NULL);
	CHECK(jitcache_acquire((jitcache_cache *)a[0], (jitcache_key *)a[1], 20, &b, &l) == JITCACHE_TIMEOUT &&
		l != NULL);
	jitcache_lease_free(l);
	CHECK(jitcache_acquire((jitcache_cache *)a[0], (jitcache_key *)a[1], 0, &b, &l) == JITCACHE_TIMEOUT);
	CHECK(jitcache_commit(l, "theirs", 6, NULL, NULL) == JITCACHE_OK);
	return NULL;
}

static void waiting_ends_when_it_is_told_to(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_lease *l;
	CHECK(jitcache_acquire(c, k, -1, &b, &l) == JITCACHE_LEASE);
	void *a[] = {c, k};
	pthread_t t;
	pthread_create(&t, NULL, ask_while_held, a);
	pthread_join(t, NULL);
	CHECK(jitcache_commit(l, "mine", 4, NULL, &b) == JITCACHE_OK && blob_is(b, "mine"));
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "theirs")); /* the first is kept */
	jitcache_key_free(k);
	jitcache_close(c);
}

static int compiles;

static int32_t compile(void *user, jitcache_lease *lease)
{
	const char *text = (const char *)user;
	__atomic_add_fetch(&compiles, 1, __ATOMIC_SEQ_CST);
	usleep(100000);
	return jitcache_commit(lease, text, strlen(text), NULL, NULL);
}

static void *get_or_compile(void *p)
{
	void **a = (void **)p;
	jitcache_blob *b;
	CHECK(jitcache_get_or_compile((jitcache_cache *)a[0], (jitcache_key *)a[1], -1, compile, (void *)"code", &b) ==
		JITCACHE_OK);
	CHECK(blob_is(b, "code"));
	return NULL;
}

/* jitcache:control nolease */
static void one_of_many_threads_compiles(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k = make_key("x");
	void *a[] = {c, k};
	pthread_t t[8];
	compiles = 0;
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, get_or_compile, a);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	CHECK(compiles == 1);
	jitcache_key_free(k);
	jitcache_close(c);
}

static int32_t refuse(void *user, jitcache_lease *lease)
{
	(void)lease;
	return *(const int32_t *)user;
}

static int32_t commit_twice(void *user, jitcache_lease *lease)
{
	(void)user;
	CHECK(jitcache_commit(lease, "a", 1, NULL, NULL) == JITCACHE_OK);
	CHECK(jitcache_commit(lease, "b", 1, NULL, NULL) == JITCACHE_ERR_HANDLE);
	return JITCACHE_OK;
}

static int32_t free_it(void *user, jitcache_lease *lease)
{
	(void)user;
	jitcache_lease_free(lease);
	return -77;
}

static void what_the_callback_returns_comes_back(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	const int32_t own[] = {-1234, 99};
	for (int i = 0; i < 2; i++) {
		CHECK(jitcache_get_or_compile(c, k, -1, refuse, (void *)&own[i], &b) == own[i]);
		CHECK(b == NULL);
	}
	const int32_t ok = JITCACHE_OK;
	CHECK(jitcache_get_or_compile(c, k, -1, refuse, (void *)&ok, &b) ==
		JITCACHE_ERR_ARGUMENT); /* it has not committed */
	CHECK(jitcache_get_or_compile(c, k, -1, free_it, NULL, &b) == -77);
	CHECK(jitcache_get_or_compile(c, k, -1, commit_twice, NULL, &b) == JITCACHE_OK && blob_is(b, "a"));
	jitcache_key_free(k);
	jitcache_close(c);
}

static int32_t not_storable(void *user, jitcache_lease *lease)
{
	(void)user;
	return jitcache_commit(lease, "0123456789", 10, NULL, NULL);
}

static void result_that_is_not_stored_is_handed_back(void)
{
	jitcache_options *o;
	jitcache_cache *c;
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	jitcache_options_new(&o);
	jitcache_options_set(o, "directory", check_dir);
	jitcache_options_set(o, "memory_size", "0");
	jitcache_options_set(o, "max_size", "100");
	CHECK(jitcache_open(o, &c) == JITCACHE_OK);
	jitcache_options_free(o);
	CHECK(jitcache_get_or_compile(c, k, -1, not_storable, NULL, &b) == JITCACHE_NOT_STORED);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_TOO_LARGE);
	CHECK(blob_is(b, "0123456789"));
	jitcache_key_free(k);
	jitcache_close(c);
}

static void cursor_gives_each_entry_once(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_cursor *all, *some;
	jitcache_blob *b;
	char text[16];
	int seen[40] = {0}, n = 0;
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof text, "entry %d.", i);
		jitcache_key *k = make_key(text);
		jitcache_key_set_name(k, text);
		jitcache_key_set_kind(k, i < 30 ? "generic" : "cubin");
		jitcache_put(c, k, "x", 1, NULL, 0);
		jitcache_key_free(k);
	}
	CHECK(jitcache_cursor_new(c, NULL, &all) == JITCACHE_OK);
	CHECK(jitcache_cursor_new(c, "cubin", &some) == JITCACHE_OK);
	while (jitcache_cursor_next(all, &b) == JITCACHE_OK) {
		for (int i = 0; i < 40; i++) {
			snprintf(text, sizeof text, "\"entry %d.\"", i);
			seen[i] += strstr((const char *)jitcache_blob_data(b), text) != NULL;
		}
		jitcache_blob_release(b);
	}
	for (int i = 0; i < 40; i++)
		CHECK(seen[i] == 1);
	CHECK(jitcache_cursor_next(all, &b) == JITCACHE_MISS && b == NULL);
	for (; jitcache_cursor_next(some, &b) == JITCACHE_OK; n++)
		jitcache_blob_release(b);
	CHECK(n == 10);
	jitcache_cursor_free(all);
	jitcache_cursor_free(some);
	CHECK(jitcache_cursor_new(c, "none", &some) == JITCACHE_OK && jitcache_cursor_next(some, &b) == JITCACHE_MISS);
	jitcache_close(c);
	CHECK(jitcache_cursor_next(some, &b) == JITCACHE_ERR_HANDLE && b == NULL);
	jitcache_cursor_free(some);
}

/* jitcache:control JC_STAYS */
static void cursor_comes_back_from_many_entries_of_another_kind(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_cursor *some;
	jitcache_blob *b;
	char text[16];
	int busy = 0, status;
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof text, "entry %d.", i);
		jitcache_key *k = make_key(text);
		jitcache_put(c, k, "x", 1, NULL, 0);
		jitcache_key_free(k);
	}
	CHECK(jitcache_cursor_new(c, "none", &some) == JITCACHE_OK);
	while ((status = jitcache_cursor_next(some, &b)) == JITCACHE_BUSY) {
		CHECK(b == NULL);
		busy++;
	}
	CHECK(status == JITCACHE_MISS && busy == 300 / 64);
	jitcache_cursor_free(some);
	jitcache_close(c);
}

static void reports_are_json(void)
{
	jitcache_cache *c = open_cache("1Mi");
	jitcache_key *k;
	jitcache_blob *b;
	uint64_t n;
	jitcache_key_new(&k);
	jitcache_key_add(k, "a", "1", 1);
	jitcache_key_set_name(k, "thing");
	jitcache_put(c, k, "x", 1, NULL, 0);
	CHECK(jitcache_stats(c, &b) == JITCACHE_OK &&
		strstr((const char *)jitcache_blob_data(b), "\"puts\":1") != NULL);
	jitcache_blob_release(b);
	CHECK(jitcache_explain(c, k, &b) == JITCACHE_OK &&
		strstr((const char *)jitcache_blob_data(b), "\"hit\":true") != NULL);
	jitcache_blob_release(b);
	CHECK(jitcache_verify(c, &b) == JITCACHE_OK &&
		strstr((const char *)jitcache_blob_data(b), "\"entries\":1") != NULL);
	jitcache_blob_release(b);
	CHECK(jitcache_verify(c, NULL) == JITCACHE_OK);
	CHECK(jitcache_count(c, &n) == JITCACHE_OK && n == 1);
	CHECK(jitcache_trim(c) == JITCACHE_OK);
	CHECK(jitcache_flush(c) == JITCACHE_OK);
	CHECK(jitcache_clear(c, "cubin") == JITCACHE_OK && jitcache_count(c, &n) == JITCACHE_OK && n == 1);
	CHECK(jitcache_clear(c, NULL) == JITCACHE_OK && jitcache_count(c, &n) == JITCACHE_OK && n == 0);
	jitcache_key_free(k);
	jitcache_close(c);
}

static void epoch_changes_when_something_leaves(void)
{
	jitcache_cache *c = open_cache("1Mi"), *none = open_cache("0");
	jitcache_key *k = make_key("x");
	const volatile uint64_t *epoch = jitcache_epoch(c);
	CHECK(epoch != NULL && jitcache_epoch(none) == NULL);
	uint64_t before = *epoch;
	jitcache_put(c, k, "x", 1, NULL, 0);
	CHECK(*epoch == before);
	CHECK(jitcache_used(c, k, 5) == JITCACHE_OK);
	jitcache_remove(c, k);
	CHECK(*epoch != before);
	CHECK(jitcache_used(c, k, 5) == JITCACHE_MISS);
	jitcache_key_free(k);
	jitcache_close(c);
	jitcache_close(none);
}

static void hits_are_counted_without_a_tier(void)
{
	jitcache_cache *none = open_cache("0");
	jitcache_key *k = make_key("used");
	jitcache_blob *json = NULL;
	CHECK(jitcache_used(none, k, 12345) == JITCACHE_MISS);
	CHECK(jitcache_stats(none, &json) == JITCACHE_OK);
	CHECK(strstr((const char *)jitcache_blob_data(json), "\"hits_memory\":12345") != NULL);
	jitcache_blob_release(json);
	jitcache_key_free(k);
	jitcache_close(none);
}

static void compile_without_a_lease_is_timed(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("timed");
	jitcache_blob *b;
	CHECK(jitcache_put_compiled(c, k, "code", 4, NULL, 2, 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_put_compiled(c, k, NULL, 4, NULL, 0, 1) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_put_compiled(c, k, "code", 4, NULL, 0, UINT64_C(7000000000)) == JITCACHE_OK);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "code"));
	CHECK(jitcache_stats(c, &b) == JITCACHE_OK);
	CHECK(strstr((const char *)jitcache_blob_data(b), "\"compile_seconds\":7,\"saved_seconds\":7") != NULL);
	jitcache_blob_release(b);
	jitcache_key_free(k);
	jitcache_close(c);
}

static int warned;

static void on_warning(void *user, int32_t level, const char *text)
{
	CHECK(user == &warned && level == JITCACHE_LOG_WARNING && strstr(text, "not a directory") != NULL);
	CHECK(jitcache_version() != NULL); /* it may call the library */
	warned++;
}

static void warnings_go_to_the_callback(void)
{
	FILE *f = fopen(check_dir, "w");
	fclose(f);
	CHECK(jitcache_set_log(on_warning, &warned) == JITCACHE_OK);
	jitcache_cache *c = open_cache("1Mi");
	jitcache_close(c);
	c = open_cache("1Mi");
	jitcache_close(c);
	CHECK(warned == 1);
	jitcache_set_log(NULL, NULL);
}

enum { MISS_THREADS = 4, MISS_KINDS = 10, MISSES = 500 };

/* More kinds than the library counts by itself. */
static jitcache_key *absent[MISS_KINDS];

static void *miss_all(void *p)
{
	for (int i = 0; i < MISSES * MISS_KINDS; i++) {
		jitcache_blob *b;
		char buffer[8];
		size_t size;
		int32_t status = i % 2 ? jitcache_get((jitcache_cache *)p, absent[i % MISS_KINDS], &b)
		                       : jitcache_get_into((jitcache_cache *)p, absent[i % MISS_KINDS], buffer,
						 sizeof buffer, &size);
		CHECK(status == JITCACHE_MISS && jitcache_last_miss() == JITCACHE_REASON_ABSENT);
	}
	return NULL;
}

static void misses_are_counted_by_kind(const char *memory)
{
	jitcache_cache *c = open_cache(memory);
	jitcache_blob *json;
	pthread_t t[MISS_THREADS];
	char kind[17], want[64];
	for (int i = 0; i < MISS_KINDS; i++) {
		snprintf(kind, sizeof kind, "kind-%d", i);
		absent[i] = make_key(kind);
		CHECK(jitcache_key_set_kind(absent[i], kind) == JITCACHE_OK);
	}
	for (int i = 0; i < MISS_THREADS; i++)
		pthread_create(&t[i], NULL, miss_all, c);
	for (int i = 0; i < MISS_THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(jitcache_stats(c, &json) == JITCACHE_OK);
	const char *text = (const char *)jitcache_blob_data(json);
	snprintf(want, sizeof want, "\"misses\":%d,", MISS_THREADS * MISSES * MISS_KINDS);
	CHECK(strstr(text, want) != NULL);
	snprintf(want, sizeof want, "\"misses\":%d,", MISS_THREADS * MISSES);
	for (int i = 0; i < MISS_KINDS; i++) {
		snprintf(kind, sizeof kind, "\"kind-%d\"", i);
		const char *own = strstr(text, kind);
		CHECK(own != NULL && (own = strstr(own, "\"misses\"")) != NULL &&
			strncmp(own, want, strlen(want)) == 0);
		jitcache_key_free(absent[i]);
	}
	jitcache_blob_release(json);
	CHECK(jitcache_close(c) == JITCACHE_OK);
}

static void misses_are_counted(void) { misses_are_counted_by_kind("0"); }
static void misses_are_counted_beside_a_tier_in_memory(void) { misses_are_counted_by_kind("1Mi"); }

/* Nothing is read from a directory that others may write, and nothing stored there. */
/* jitcache:control nodegrade */
static void directory_that_others_may_write_is_a_cache_in_memory(void)
{
	static const mode_t modes[] = {0775, 0777, 01777};
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		jitcache_cache *c;
		jitcache_key *k = make_key("x");
		jitcache_blob *b;
		CHECK(mkdir(check_dir, 0700) == 0 && chmod(check_dir, modes[i]) == 0);
		c = open_cache("1Mi");
		CHECK(jitcache_get(c, k, &b) == JITCACHE_MISS && jitcache_last_miss() == JITCACHE_REASON_NO_DIRECTORY);
		CHECK(jitcache_put(c, k, "old", 3, NULL, 0) == JITCACHE_NOT_STORED);
		CHECK(jitcache_put(c, k, "code", 4, NULL, JITCACHE_REPLACE) == JITCACHE_NOT_STORED);
		CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "code"));
		CHECK(jitcache_stats(c, &b) == JITCACHE_OK);
		const char *json = (const char *)jitcache_blob_data(b);
		CHECK(json != NULL && strstr(json, "\"hits_memory\":1,\"hits_disk\":0,\"misses\":1,") != NULL);
		CHECK(json != NULL && strstr(json, "\"puts\":0,\"not_stored\":2,") != NULL);
		jitcache_blob_release(b);
		jitcache_key_free(k);
		jitcache_close(c);
		CHECK(rmdir(check_dir) == 0); /* it is empty */
	}
}

static void names_of_numbers(void)
{
	CHECK(strcmp(jitcache_status_name(JITCACHE_OK), "ok") == 0);
	CHECK(strcmp(jitcache_status_name(12345), "unknown") == 0);
	CHECK(strcmp(jitcache_reason_name(JITCACHE_REASON_CHECKSUM), "checksum") == 0);
	CHECK(strcmp(jitcache_reason_name(-1), "unknown") == 0);
	CHECK(jitcache_abi_version() == JITCACHE_ABI_VERSION);
	CHECK(strcmp(jitcache_version(), JITCACHE_VERSION) == 0);
}

int main(int argc, char **argv)
{
	RUN(warnings_go_to_the_callback); /* first: later tests give cause for others */
	RUN(what_is_put_is_there);
	RUN(data_and_size_come_with_the_handle);
	RUN(get_into_says_how_much_it_needs);
	RUN(replace_replaces_and_nothing_else_does);
	RUN(empty_payload_is_a_payload);
	RUN(path_opens_and_is_never_given_twice);
	RUN(keys_are_what_is_in_them);
	RUN(file_that_changes_is_noticed);
	RUN(lease_is_for_one);
	RUN(waiting_ends_when_it_is_told_to);
	RUN(one_of_many_threads_compiles);
	RUN(what_the_callback_returns_comes_back);
	RUN(result_that_is_not_stored_is_handed_back);
	RUN(reports_are_json);
	RUN(cursor_gives_each_entry_once);
	RUN(cursor_comes_back_from_many_entries_of_another_kind);
	RUN(epoch_changes_when_something_leaves);
	RUN(hits_are_counted_without_a_tier);
	RUN(compile_without_a_lease_is_timed);
	RUN(misses_are_counted);
	RUN(misses_are_counted_beside_a_tier_in_memory);
	RUN(directory_that_others_may_write_is_a_cache_in_memory);
	RUN(names_of_numbers);
	DONE;
}
