/* jitcache_cuda.h from C99, with a fake NVRTC and a fake driver:
 * JITCACHE_NVRTC and JITCACHE_LIBCUDA name them, tests/cuda/fakes.py makes
 * them. Every status that the header lists is seen here, but those of no memory
 * and of a bug. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include <jitcache_cuda.h>

static const char kernel[] = "extern \"C\" __global__ void fill(int *p) { *p = 1; }\n";
static const char axpy[] = "template <typename T> __global__ void axpy(T *p) { *p += 1; }\n";
static const char broken[] = "#error not today\n";
static const char warns[] = "#warning mind the gap\nextern \"C\" __global__ void fill(int *p) { *p = 2; }\n";

/* request returns one for sm_80. */
static jitcache_cuda_request *request(const char *source)
{
	jitcache_cuda_request *r = NULL;
	CHECK(jitcache_cuda_request_new(source, strlen(source), "test.cu", &r) == JITCACHE_OK);
	CHECK(jitcache_cuda_request_option(r, "-arch=sm_80") == JITCACHE_OK);
	return r;
}

static jitcache_cache *open_readonly(void)
{
	jitcache_options *o = NULL;
	jitcache_cache *c = NULL;
	CHECK(jitcache_options_new(&o) == JITCACHE_OK);
	CHECK(jitcache_options_set(o, "directory", check_dir) == JITCACHE_OK);
	CHECK(jitcache_options_set(o, "readonly", "1") == JITCACHE_OK);
	CHECK(jitcache_options_set(o, "memory_size", "0") == JITCACHE_OK);
	CHECK(jitcache_open(o, &c) == JITCACHE_OK);
	jitcache_options_free(o);
	return c;
}

/* has says whether the last error has a word. */
static int has(const char *word) { return strstr(jitcache_last_error(), word) != NULL; }

/* ---- requests */

static void null_and_nul_are_argument_errors(void)
{
	jitcache_cuda_request *r = NULL;
	const int32_t bad = JITCACHE_ERR_ARGUMENT;
	CHECK(jitcache_cuda_request_new(NULL, 0, NULL, &r) == bad);
	CHECK(jitcache_cuda_request_new("", 0, NULL, NULL) == bad);
	CHECK(jitcache_cuda_request_new("a\0b", 3, NULL, &r) == bad && r == NULL && has("NUL"));
	CHECK(jitcache_cuda_request_new("", 0, NULL, &r) == JITCACHE_OK);
	CHECK(jitcache_cuda_request_target(r, NULL) == bad);
	CHECK(jitcache_cuda_request_target(r, "fatbin") == bad && has("fatbin"));
	CHECK(jitcache_cuda_request_target(NULL, "ptx") == bad);
	CHECK(jitcache_cuda_request_option(r, NULL) == bad);
	CHECK(jitcache_cuda_request_option(NULL, "-w") == bad);
	CHECK(jitcache_cuda_request_header(r, NULL, "", 0) == bad);
	CHECK(jitcache_cuda_request_header(r, "a.h", NULL, 0) == bad);
	CHECK(jitcache_cuda_request_header(r, "a.h", "a\0b", 3) == bad && has("NUL"));
	CHECK(jitcache_cuda_request_header(NULL, "a.h", "", 0) == bad);
	CHECK(jitcache_cuda_request_expression(r, NULL) == bad);
	CHECK(jitcache_cuda_request_expression(NULL, "f<int>") == bad);
	CHECK(jitcache_cuda_request_library(r, "nvrtc", NULL) == bad);
	CHECK(jitcache_cuda_request_library(r, "nvjitlink", "/x") == bad && has("nvjitlink"));
	CHECK(jitcache_cuda_request_library(r, NULL, "/x") == bad);
	CHECK(jitcache_cuda_request_library(NULL, "nvrtc", "/x") == bad);
	CHECK(jitcache_cuda_request_packed(r, NULL, 0) == bad);
	CHECK(jitcache_cuda_request_packed(NULL, "", 0) == bad);
	jitcache_cuda_request_free(r);
	jitcache_cuda_request_free(NULL);
}

/* packed_part writes one part, and returns its size. */
static size_t packed_part(char *out, char letter, const char *text, size_t size)
{
	out[0] = letter;
	for (int i = 0; i < 8; i++)
		out[1 + i] = (char)(size >> 8 * i);
	memcpy(out + 9, text, size);
	return 9 + size;
}

static void packed_parts_are_what_single_calls_add(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *one = request("#include \"a.h\"\n__global__ void k() {}\n"), *two = NULL;
	jitcache_blob *a = NULL, *b = NULL;
	jitcache_key *key = NULL;
	char packed[256];
	size_t n = packed_part(packed, 'o', "-arch=sm_80", 11);
	n += packed_part(packed + n, 'h', "a.h", 3);
	n += packed_part(packed + n, 't', "int a;\n", 7);
	n += packed_part(packed + n, 'T', "ptx", 3);
	n += packed_part(packed + n, 'e', "k", 1);
	CHECK(jitcache_cuda_request_header(one, "a.h", "int a;\n", 7) == JITCACHE_OK);
	CHECK(jitcache_cuda_request_target(one, "ptx") == JITCACHE_OK);
	CHECK(jitcache_cuda_request_expression(one, "k") == JITCACHE_OK);
	CHECK(jitcache_cuda_request_new("#include \"a.h\"\n__global__ void k() {}\n", 38, "test.cu", &two) ==
		JITCACHE_OK);
	CHECK(jitcache_cuda_request_packed(two, packed, n) == JITCACHE_OK);
	CHECK(jitcache_cuda_compile(c, one, -1, &a) == JITCACHE_OK);
	CHECK(jitcache_cuda_lookup(c, two, &b, NULL, NULL, &key) == JITCACHE_OK && key == NULL);
	jitcache_blob_release(a);
	jitcache_blob_release(b);
	jitcache_cuda_request_free(one);
	jitcache_cuda_request_free(two);
	jitcache_close(c);
}

static void malformed_parts_are_found_out(void)
{
	static const struct {
		const char *bytes;
		size_t size;
	} bad[] = {
		{"o", 1},                                         /* no length */
		{"o\x05\0\0\0\0\0\0\0abc", 12},                   /* cut short */
		{"o\xff\xff\xff\xff\xff\xff\xff\xff", 9},         /* longer than all memory */
		{"x\0\0\0\0\0\0\0\0", 9},                         /* no such letter */
		{"\0\0\0\0\0\0\0\0\0", 9},                        /* none at all */
		{"N\0\0\0\0\0\0\0\0", 9},                         /* not for hosts */
		{"h\x01\0\0\0\0\0\0\0a", 10},                     /* a header without a text */
		{"t\x01\0\0\0\0\0\0\0a", 10},                     /* a text without a header */
		{"h\x01\0\0\0\0\0\0\0ao\x01\0\0\0\0\0\0\0a", 20}, /* something between the two */
		{"T\x03\0\0\0\0\0\0\0elf", 12},                   /* no such target */
		{"o\x02\0\0\0\0\0\0\0a\0", 11},                   /* a NUL */
		{"o\x01\0\0\0\0\0\0\0a!", 11},                    /* something behind */
	};
	jitcache_cuda_request *r = request(kernel);
	jitcache_blob *b = NULL;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(jitcache_cuda_request_packed(r, bad[i].bytes, bad[i].size) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_cuda_request_packed(r, "", 0) == JITCACHE_OK);
	CHECK(jitcache_cuda_compile(NULL, r, -1, &b) == JITCACHE_OK); /* nothing of them was added */
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
}

static void used_request_is_frozen(void)
{
	jitcache_cuda_request *r = request(kernel);
	jitcache_key *key = NULL;
	const int32_t frozen = JITCACHE_ERR_FROZEN;
	CHECK(jitcache_cuda_key(NULL, r, &key) == JITCACHE_OK);
	CHECK(jitcache_cuda_request_target(r, "ptx") == frozen);
	CHECK(jitcache_cuda_request_option(r, "-w") == frozen);
	CHECK(jitcache_cuda_request_header(r, "a.h", "", 0) == frozen);
	CHECK(jitcache_cuda_request_expression(r, "k<int>") == frozen);
	CHECK(jitcache_cuda_request_library(r, "nvrtc", "/x") == frozen);
	CHECK(jitcache_cuda_request_packed(r, "", 0) == frozen);
	jitcache_key_free(key);
	jitcache_cuda_request_free(r);
}

static void stale_and_foreign_handles_are_found_out(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request(kernel), *gone = request(kernel);
	jitcache_cuda_module *m = NULL;
	jitcache_blob *b = NULL, *live = NULL;
	jitcache_key *key = NULL;
	size_t n = 0;
	void *f = NULL;
	const int32_t bad = JITCACHE_ERR_HANDLE;
	jitcache_cuda_request_free(gone);
	jitcache_cuda_request_free(gone);
	CHECK(jitcache_cuda_compile(c, r, -1, &live) == JITCACHE_OK);
	void *const others[] = {gone, c, live, (void *)(uintptr_t)5};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		jitcache_cuda_request *other = (jitcache_cuda_request *)others[i];
		CHECK(jitcache_cuda_request_option(other, "-w") == bad);
		CHECK(jitcache_cuda_request_packed(other, "", 0) == bad);
		CHECK(jitcache_cuda_compile(c, other, -1, &b) == bad && b == NULL);
		CHECK(jitcache_cuda_lookup(c, other, &b, NULL, NULL, &key) == bad);
		CHECK(jitcache_cuda_run(other, NULL, &b) == bad);
		CHECK(jitcache_cuda_key(c, other, &key) == bad && key == NULL);
		CHECK(jitcache_cuda_load(c, other, -1, &m) == bad && m == NULL);
		CHECK(jitcache_cuda_load_blob(other, live, &m) == bad);
		jitcache_cuda_request_free(other);
		CHECK(jitcache_cuda_function((jitcache_cuda_module *)others[i], "k", &f) == bad);
		CHECK(jitcache_cuda_module_handle((jitcache_cuda_module *)others[i]) == NULL);
		jitcache_cuda_module_free((jitcache_cuda_module *)others[i]);
	}
	CHECK(jitcache_cuda_compile((jitcache_cache *)(void *)r, r, -1, &b) == bad);
	CHECK(jitcache_cuda_run(r, (jitcache_lease *)(void *)r, &b) == bad);
	CHECK(jitcache_cuda_log((jitcache_blob *)(void *)r, NULL, 0, &n) == bad);
	CHECK(jitcache_cuda_lowered((jitcache_blob *)(void *)r, "k", NULL, 0, &n) == bad);
	CHECK(jitcache_cuda_load_blob(r, (jitcache_blob *)(void *)c, &m) == bad);
	/* All that lives has come through it. */
	CHECK(jitcache_blob_size(live) > 0);
	jitcache_blob_release(live);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_OK);
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
	CHECK(jitcache_close(c) == JITCACHE_OK);
}

static void calls_want_their_pointers(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request(kernel);
	jitcache_cuda_module *m = NULL;
	jitcache_blob *b = NULL;
	jitcache_key *key = NULL;
	char text[8];
	size_t n = 0;
	void *f = NULL;
	const int32_t bad = JITCACHE_ERR_ARGUMENT;
	CHECK(jitcache_cuda_compile(c, r, -1, NULL) == bad);
	CHECK(jitcache_cuda_compile(c, r, -2, &b) == bad);
	CHECK(jitcache_cuda_compile(c, NULL, -1, &b) == bad);
	CHECK(jitcache_cuda_lookup(NULL, r, &b, NULL, NULL, &key) == bad);
	CHECK(jitcache_cuda_lookup(c, r, NULL, NULL, NULL, &key) == bad);
	CHECK(jitcache_cuda_lookup(c, r, &b, NULL, NULL, NULL) == bad);
	CHECK(jitcache_cuda_run(NULL, NULL, &b) == bad);
	CHECK(jitcache_cuda_key(c, r, NULL) == bad && jitcache_cuda_key(c, NULL, &key) == bad);
	CHECK(jitcache_cuda_compile(NULL, r, -1, &b) == JITCACHE_OK);
	CHECK(jitcache_cuda_log(b, text, sizeof text, NULL) == bad);
	CHECK(jitcache_cuda_log(b, NULL, 8, &n) == bad);
	CHECK(jitcache_cuda_log(NULL, text, sizeof text, &n) == bad);
	CHECK(jitcache_cuda_lowered(b, NULL, text, sizeof text, &n) == bad);
	CHECK(jitcache_cuda_lowered(NULL, "k", text, sizeof text, &n) == bad);
	CHECK(jitcache_cuda_load(c, r, -1, NULL) == bad && jitcache_cuda_load(c, NULL, -1, &m) == bad);
	CHECK(jitcache_cuda_load_blob(r, b, NULL) == bad && jitcache_cuda_load_blob(r, NULL, &m) == bad);
	CHECK(jitcache_cuda_function(NULL, "k", &f) == bad);
	CHECK(jitcache_cuda_get_function(c, r, -1, NULL, &m, &f) == bad);
	CHECK(jitcache_cuda_get_function(c, r, -1, "k", NULL, &f) == bad);
	CHECK(jitcache_cuda_get_function(c, r, -1, "k", &m, NULL) == bad);
	CHECK(jitcache_cuda_module_handle(NULL) == NULL);
	jitcache_cuda_module_free(NULL);
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

/* ---- compiling */

static void second_compile_hits(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request(kernel);
	jitcache_blob *a = NULL, *b = NULL, *fresh = NULL;
	jitcache_key *key = NULL;
	const void *data = NULL;
	size_t size = 0;
	CHECK(jitcache_cuda_lookup(c, r, &b, &data, &size, &key) == JITCACHE_MISS && b == NULL && key != NULL);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_ABSENT);
	jitcache_key_free(key);
	CHECK(jitcache_cuda_compile(c, r, -1, &a) == JITCACHE_OK);
	CHECK(jitcache_cuda_lookup(c, r, &b, &data, &size, &key) == JITCACHE_OK && key == NULL);
	CHECK(data == jitcache_blob_data(b) && size == jitcache_blob_size(b) && size > 0);
	CHECK(size == jitcache_blob_size(a) && memcmp(data, jitcache_blob_data(a), size) == 0);
	CHECK(jitcache_cuda_compile(NULL, r, -1, &fresh) == JITCACHE_OK);
	CHECK(size == jitcache_blob_size(fresh) && memcmp(data, jitcache_blob_data(fresh), size) == 0);
	CHECK(strcmp(jitcache_blob_kind(b), "cubin") == 0);
	jitcache_blob_release(a);
	jitcache_blob_release(b);
	jitcache_blob_release(fresh);
	CHECK(jitcache_cuda_key(c, r, &key) == JITCACHE_OK);
	CHECK(jitcache_get(c, key, &b) == JITCACHE_OK);
	jitcache_blob_release(b);
	CHECK(jitcache_remove(c, key) == JITCACHE_OK);
	jitcache_key_free(key);
	CHECK(jitcache_cuda_lookup(c, r, &b, NULL, NULL, &key) == JITCACHE_MISS);
	jitcache_key_free(key);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

static void ptx_is_a_string(void)
{
	jitcache_cache *c = open_cache("0");
	for (int i = 0; i < 3; i++) {
		jitcache_cuda_request *r = request(kernel);
		jitcache_blob *b = NULL;
		CHECK(jitcache_cuda_request_target(r, "ptx") == JITCACHE_OK);
		CHECK(jitcache_cuda_compile(i < 2 ? c : NULL, r, -1, &b) == JITCACHE_OK);
		const char *text = (const char *)jitcache_blob_data(b);
		CHECK(text != NULL && strlen(text) == jitcache_blob_size(b) && strstr(text, ".entry fill") != NULL);
		jitcache_blob_release(b);
		jitcache_cuda_request_free(r);
	}
	jitcache_close(c);
}

static void lease_of_a_miss_is_run(void)
{
	jitcache_cache *c = open_cache("0");
	const char *const sources[] = {broken, kernel};
	for (int i = 0; i < 2; i++) {
		jitcache_cuda_request *r = request(sources[i]);
		jitcache_blob *b = NULL;
		jitcache_key *key = NULL;
		jitcache_lease *lease = NULL;
		CHECK(jitcache_cuda_lookup(c, r, &b, NULL, NULL, &key) == JITCACHE_MISS);
		for (int again = 0; again < 2; again++) {
			int32_t got = jitcache_acquire(c, key, -1, &b, &lease);
			CHECK(got == (again && i == 1 ? JITCACHE_OK : JITCACHE_LEASE)); /* a failure gives it up */
			if (got == JITCACHE_LEASE)
				CHECK(jitcache_cuda_run(r, lease, &b) == (i == 0 ? JITCACHE_ERR_COMPILE : JITCACHE_OK));
			CHECK((b != NULL) == (i == 1));
			jitcache_blob_release(b);
			b = NULL;
		}
		jitcache_key_free(key);
		jitcache_cuda_request_free(r);
	}
	jitcache_close(c);
}

static void logs_and_names_come_with_a_blob(void)
{
	jitcache_cache *c = open_cache("0");
	for (int i = 0; i < 3; i++) {
		jitcache_cuda_request *r = request(warns), *t = request(axpy);
		jitcache_blob *b = NULL, *named = NULL;
		char text[512], lowered[64];
		size_t n = 0, m = 1;
		CHECK(jitcache_cuda_compile(i < 2 ? c : NULL, r, -1, &b) == JITCACHE_OK);
		CHECK(jitcache_cuda_log(b, text, sizeof text, &n) == JITCACHE_OK);
		CHECK(n > 0 && strlen(text) == n && strstr(text, "mind the gap") != NULL);
		CHECK(jitcache_cuda_log(b, NULL, 0, &m) == JITCACHE_TOO_SMALL && m == n);
		text[0] = 'x';
		CHECK(jitcache_cuda_log(b, text, n, &m) == JITCACHE_TOO_SMALL && m == n && text[0] == 'x');
		CHECK(jitcache_cuda_log(b, text, n + 1, &m) == JITCACHE_OK && text[n] == 0);
		CHECK(jitcache_cuda_lowered(b, "fill", lowered, sizeof lowered, &m) == JITCACHE_MISS && m == 0);

		CHECK(jitcache_cuda_request_expression(t, "axpy<int>") == JITCACHE_OK);
		CHECK(jitcache_cuda_compile(i < 2 ? c : NULL, t, -1, &named) == JITCACHE_OK);
		CHECK(jitcache_cuda_log(named, text, 1, &n) == JITCACHE_OK && n == 0 && text[0] == 0);
		CHECK(jitcache_cuda_log(named, NULL, 0, &n) == JITCACHE_TOO_SMALL && n == 0);
		CHECK(jitcache_cuda_lowered(named, "axpy<int>", lowered, sizeof lowered, &m) == JITCACHE_OK);
		CHECK(strncmp(lowered, "_Z", 2) == 0 && strlen(lowered) == m);
		CHECK(jitcache_cuda_lowered(named, "axpy<int>", lowered, m, &n) == JITCACHE_TOO_SMALL && n == m);
		CHECK(jitcache_cuda_lowered(named, "axpy<float>", lowered, sizeof lowered, &m) == JITCACHE_MISS);
		jitcache_blob_release(b);
		jitcache_blob_release(named);
		jitcache_cuda_request_free(r);
		jitcache_cuda_request_free(t);
	}
	jitcache_close(c);
}

static void log_of_a_failure_is_the_last_ones(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *bad = request(broken), *good = request(kernel);
	jitcache_blob *b = NULL;
	CHECK(strcmp(jitcache_cuda_last_log(), "") == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(jitcache_cuda_compile(i == 0 ? c : NULL, bad, -1, &b) == JITCACHE_ERR_COMPILE && b == NULL);
		CHECK(strstr(jitcache_cuda_last_log(), "not today") != NULL && has("test.cu"));
		CHECK(jitcache_cuda_compile(c, good, -1, &b) == JITCACHE_OK);
		CHECK(strcmp(jitcache_cuda_last_log(), "") == 0);
		jitcache_blob_release(b);
	}
	jitcache_cuda_request_free(bad);
	jitcache_cuda_request_free(good);
	jitcache_close(c);
}

static void result_that_shows_the_time_is_handed_back(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request("const char when[] = __TIME__;\nextern \"C\" __global__ void k() {}\n");
	jitcache_blob *b = NULL;
	jitcache_key *key = NULL;
	for (int i = 0; i < 2; i++) {
		CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_NOT_STORED && has("__TIME__"));
		CHECK(jitcache_last_miss() == JITCACHE_REASON_UNREPEATABLE && jitcache_blob_size(b) > 0);
		jitcache_blob_release(b);
		CHECK(jitcache_cuda_lookup(c, r, &b, NULL, NULL, &key) == JITCACHE_MISS && key != NULL);
		jitcache_key_free(key);
	}
	CHECK(jitcache_cuda_compile(NULL, r, -1, &b) == JITCACHE_OK && b != NULL);
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

static void missing_library_is_named(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request(kernel), *d = NULL;
	jitcache_cuda_module *m = NULL;
	jitcache_blob *b = NULL;
	jitcache_key *key = NULL;
	const int32_t missing = JITCACHE_ERR_LIBRARY;
	CHECK(jitcache_cuda_request_library(r, "nvrtc", "/nowhere/libnvrtc.so.13") == JITCACHE_OK);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == missing && has("/nowhere/libnvrtc.so.13"));
	CHECK(jitcache_cuda_compile(NULL, r, -1, &b) == missing);
	CHECK(jitcache_cuda_key(c, r, &key) == missing);
	/* Without an architecture the driver is needed. */
	CHECK(jitcache_cuda_request_new(kernel, strlen(kernel), NULL, &d) == JITCACHE_OK);
	CHECK(jitcache_cuda_request_library(d, "libcuda", "/nowhere/libcuda.so.1") == JITCACHE_OK);
	CHECK(jitcache_cuda_compile(c, d, -1, &b) == missing && has("/nowhere/libcuda.so.1"));
	CHECK(jitcache_cuda_load(c, d, -1, &m) == missing);
	jitcache_cuda_request_free(r);
	jitcache_cuda_request_free(d);
	jitcache_close(c);
}

static void result_that_cannot_be_stored_is_handed_back(void)
{
	jitcache_close(open_cache("0"));
	jitcache_cache *c = open_readonly();
	jitcache_cuda_request *r = request(kernel);
	jitcache_blob *b = NULL;
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_NOT_STORED && jitcache_blob_size(b) > 0);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_READ_ONLY);
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static char header_path[4200];
static const char gate[] = "test-gate";

/* waiting returns a process of which a thread waits at the gate, 0 if there is none. */
static int waiting(void)
{
	glob_t found;
	int process = 0;
	if (glob("/proc/[0-9]*/task/[0-9]*/comm", GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && process == 0; i++) {
		char name[32] = "";
		FILE *f = fopen(found.gl_pathv[i], "r");
		if (f != NULL && fgets(name, sizeof name, f) != NULL && strncmp(name, gate, strlen(gate)) == 0)
			process = atoi(found.gl_pathv[i] + strlen("/proc/"));
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
	return process;
}

/* edit changes the header when NVRTC has read it and before it is done. */
static void *edit(void *unused)
{
	struct timespec in = {0, 1000 * 1000};
	int process;
	while ((process = waiting()) == 0)
		nanosleep(&in, NULL);
	write_file(header_path, "#define VALUE 22\n");
	kill(process, SIGUSR2);
	return unused;
}

static void result_of_a_header_that_moved_is_handed_back(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request("#include <a.h>\n__global__ void k(int *p) { *p = VALUE; }\n");
	jitcache_blob *b = NULL, *after = NULL;
	pthread_t thread;
	char option[4300];
	snprintf(header_path, sizeof header_path, "%s/a.h", check_dir);
	snprintf(option, sizeof option, "-I%s", check_dir);
	write_file(header_path, "#define VALUE 1\n");
	CHECK(jitcache_cuda_request_option(r, option) == JITCACHE_OK);
	setenv("STUBNVRTC_GATE_BEHIND", gate, 1);
	CHECK(pthread_create(&thread, NULL, edit, NULL) == 0);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_NOT_STORED && b != NULL);
	CHECK(jitcache_last_miss() == JITCACHE_REASON_INPUT_CHANGED);
	pthread_join(thread, NULL);
	unsetenv("STUBNVRTC_GATE_BEHIND");
	CHECK(jitcache_cuda_compile(c, r, -1, &after) == JITCACHE_OK);
	jitcache_blob_release(b);
	jitcache_blob_release(after);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

/* ---- loading */

/* call calls a function of the driver's. */
static int call(const char *name, void *out, void *argument, int device)
{
	static void *library;
	if (library == NULL)
		library = dlopen(getenv("JITCACHE_LIBCUDA"), RTLD_NOW);
	CHECK(library != NULL);
	int (*init)(unsigned);
	int (*create)(void *, unsigned, int);
	int (*set)(void *);
	if (strcmp(name, "cuInit") == 0)
		return *(void **)&init = dlsym(library, name), init(0);
	if (out != NULL)
		return *(void **)&create = dlsym(library, name), create(out, 0, device);
	return *(void **)&set = dlsym(library, name), set(argument);
}

static void *context(void)
{
	void *made = NULL;
	CHECK(call("cuInit", NULL, NULL, 0) == 0 && call("cuCtxCreate_v2", &made, NULL, 0) == 0);
	return made;
}

static void failure_of_the_driver_is_told_by_name(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = NULL, *k = request(kernel);
	jitcache_cuda_module *m = NULL;
	jitcache_blob *b = NULL;
	const int32_t failed = JITCACHE_ERR_DRIVER;
	setenv("FAKECUDA_FAIL", "cuInit=100", 1);
	CHECK(jitcache_cuda_request_new(kernel, strlen(kernel), NULL, &r) == JITCACHE_OK);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == failed && has("CUDA_ERROR_NO_DEVICE"));
	unsetenv("FAKECUDA_FAIL");
	CHECK(jitcache_cuda_load(c, k, -1, &m) == failed && has("no CUDA context"));
	void *made = context();
	setenv("FAKECUDA_FAIL", "cuModuleLoadDataEx=2", 1);
	CHECK(jitcache_cuda_load(c, k, -1, &m) == failed && has("CUDA_ERROR_OUT_OF_MEMORY: out of memory"));
	setenv("FAKECUDA_FAIL", "cuModuleLoadDataEx=209:1", 1);
	CHECK(jitcache_cuda_load(c, k, -1, &m) == JITCACHE_OK); /* it was compiled again */
	unsetenv("FAKECUDA_FAIL");
	jitcache_cuda_module_free(m);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_OK); /* the device is known now */
	jitcache_blob_release(b);
	CHECK(call("cuCtxDestroy_v2", NULL, made, 0) == 0);
	jitcache_cuda_request_free(r);
	jitcache_cuda_request_free(k);
	jitcache_close(c);
}

static void code_is_loaded_once_and_has_functions(void)
{
	jitcache_cache *c = open_cache("0");
	jitcache_cuda_request *r = request(axpy);
	jitcache_cuda_module *m = NULL, *again = NULL, *third = NULL;
	jitcache_blob *b = NULL;
	void *made = context(), *f = NULL, *g = NULL;
	CHECK(jitcache_cuda_request_expression(r, "axpy<int>") == JITCACHE_OK);
	CHECK(jitcache_cuda_load(c, r, -1, &m) == JITCACHE_OK);
	CHECK(jitcache_cuda_get_function(c, r, -1, "axpy<int>", &again, &g) == JITCACHE_OK);
	CHECK(m != again && jitcache_cuda_module_handle(m) == jitcache_cuda_module_handle(again));
	CHECK(jitcache_cuda_function(m, "axpy<int>", &f) == JITCACHE_OK && f == g && f != NULL);
	CHECK(jitcache_cuda_function(m, NULL, &f) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_cuda_function(m, "axpy<int>", NULL) == JITCACHE_ERR_ARGUMENT);
	CHECK(jitcache_cuda_function(m, "no_such", &f) == JITCACHE_ERR_DRIVER && f == NULL && has("no_such"));
	CHECK(jitcache_cuda_get_function(c, r, -1, "no_such", &third, &f) == JITCACHE_ERR_DRIVER && third == NULL);
	CHECK(jitcache_cuda_compile(c, r, -1, &b) == JITCACHE_OK);
	CHECK(jitcache_cuda_load_blob(r, b, &third) == JITCACHE_OK);
	CHECK(jitcache_cuda_module_handle(third) == jitcache_cuda_module_handle(m));
	/* A module needs neither of these. */
	jitcache_blob_release(b);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
	jitcache_cuda_module_free(m);
	CHECK(jitcache_cuda_function(m, "axpy<int>", &f) == JITCACHE_ERR_HANDLE);
	CHECK(jitcache_cuda_module_handle(m) == NULL);
	jitcache_cuda_module_free(m);
	CHECK(jitcache_cuda_function(again, "axpy<int>", &f) == JITCACHE_OK && f == g);
	jitcache_cuda_module_free(again);
	CHECK(call("cuCtxDestroy_v2", NULL, made, 0) == 0);
	CHECK(jitcache_cuda_function(third, "axpy<int>", &f) == JITCACHE_ERR_DRIVER);
	jitcache_cuda_module_free(third);
}

static void load_without_a_cache(void)
{
	jitcache_cache *c = NULL;
	jitcache_cuda_request *r = request(kernel);
	jitcache_cuda_module *m = NULL;
	void *made = context(), *f = NULL;
	CHECK(jitcache_cuda_get_function(NULL, r, -1, "fill", &m, &f) == JITCACHE_OK && f != NULL);
	jitcache_cuda_module_free(m);
	jitcache_close(open_cache("0"));
	c = open_readonly();
	CHECK(jitcache_cuda_load(c, r, -1, &m) == JITCACHE_NOT_STORED && jitcache_cuda_module_handle(m) != NULL);
	jitcache_cuda_module_free(m);
	CHECK(call("cuCtxDestroy_v2", NULL, made, 0) == 0);
	jitcache_cuda_request_free(r);
	jitcache_close(c);
}

int main(int argc, char **argv)
{
	RUN(null_and_nul_are_argument_errors);
	RUN(packed_parts_are_what_single_calls_add);
	RUN(malformed_parts_are_found_out);
	RUN(used_request_is_frozen);
	RUN(stale_and_foreign_handles_are_found_out);
	RUN(calls_want_their_pointers);
	RUN(second_compile_hits);
	RUN(ptx_is_a_string);
	RUN(lease_of_a_miss_is_run);
	RUN(logs_and_names_come_with_a_blob);
	RUN(log_of_a_failure_is_the_last_ones);
	RUN(result_that_shows_the_time_is_handed_back);
	RUN(missing_library_is_named);
	RUN(result_that_cannot_be_stored_is_handed_back);
	RUN(result_of_a_header_that_moved_is_handed_back);
	RUN(failure_of_the_driver_is_told_by_name);
	RUN(code_is_loaded_once_and_has_functions);
	RUN(load_without_a_cache);
	DONE;
}
