/* The library's file is replaced after the loader has opened it, and before the
 * library does: it then keeps another version open than the one that runs. A
 * child must not run that one. */
#define _GNU_SOURCE
#include "forking.h"

#include <dlfcn.h>
#include <stdint.h>
#include <sys/stat.h>

/* Set for a program that is started again: the file that takes the library's
 * place. */
static const char other_name[] = "JITCACHE_TEST_OTHER";

static const char *program;

static void path_of_library(char *path, size_t size)
{
	Dl_info info;
	dladdr((const void *)(uintptr_t)&jitcache_version, &info);
	snprintf(path, size, "%s", info.dli_fname);
}

/* replace runs when all libraries are mapped and none was initialised. */
static void replace(int argc, char **argv, char **env)
{
	char path[4096];
	(void)argc;
	(void)argv;
	for (; *env != NULL; env++)
		if (strncmp(*env, other_name, sizeof other_name - 1) == 0) {
			path_of_library(path, sizeof path);
			rename(*env + sizeof other_name, path);
		}
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = replace;

static jitcache_cache *cache;
static jitcache_key *known;

static int is_told(void *p)
{
	jitcache_blob *b;
	(void)p;
	if (jitcache_get(cache, known, &b) != JITCACHE_ERR_FORK || b != NULL)
		return 2;
	return strstr(jitcache_last_error(), "another version") != NULL ? 0 : 3;
}

static int run_named(void)
{
	cache = open_cache("0");
	known = make_key("known");
	CHECK(jitcache_put(cache, known, "known", 5, NULL, 0) == JITCACHE_OK);
	CHECK(in_child(is_told, NULL));
	return check_bad;
}

static char *read_library(size_t *size)
{
	char path[4096], *data;
	path_of_library(path, sizeof path);
	FILE *f = fopen(path, "rb");
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	data = (char *)malloc(*size);
	CHECK(fread(data, 1, *size, f) == *size);
	fclose(f);
	return data;
}

static void write_library(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	CHECK(f != NULL && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

/* jitcache:control JC_NO_VERSION */
static void child_of_a_library_replaced_while_it_loads_is_told(void)
{
	static const char note[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
	char path[4200], other[4200];
	size_t size;
	int status;
	char *data = read_library(&size), *id = (char *)memmem(data, size, note, sizeof note);
	CHECK(id != NULL && mkdir(check_dir, 0700) == 0);
	snprintf(path, sizeof path, "%s/libjitcache.so.1", check_dir);
	snprintf(other, sizeof other, "%s/other", check_dir);
	write_library(path, data, size);
	for (size_t i = 0; id != NULL && i < 20; i++)
		id[sizeof note + i] ^= 0x55;
	write_library(other, data, size);
	free(data);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("LD_LIBRARY_PATH", check_dir, 1);
		setenv(other_name, other, 1);
		execl(program, program, check_dir, (char *)NULL);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0);
	CHECK(access(other, F_OK) != 0);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (getenv(other_name) != NULL) {
		snprintf(check_dir, sizeof check_dir, "%s/cache", argv[1]);
		return run_named();
	}
	forking_arguments(argc, argv);
	RUN(child_of_a_library_replaced_while_it_loads_is_told);
	DONE;
}
