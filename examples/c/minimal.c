/* minimal.c: compile a C function while running, once for all runs.
 *
 *	make lib
 *	cc -std=c99 -Ibuild/include examples/c/minimal.c -o minimal \
 *		-Lbuild/lib -Wl,-rpath,"$PWD/build/lib" -ljitcache -ldl
 *	./minimal "$(command -v cc)"
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <jitcache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "double f(double x) { return x * x + 1; }\n";
static const char flags[] = "-O2 -fPIC -shared";

/* Runs the compiler, whose path is user, and commits the library that it has made. */
static int32_t compile(void *user, jitcache_lease *lease)
{
	static char code[1 << 20];
	char out[] = "/tmp/minimal-XXXXXX", command[4096];
	size_t size = 0;
	FILE *file;
	int fd = mkstemp(out);

	if (fd < 0)
		return JITCACHE_ERR_COMPILE;
	close(fd);
	snprintf(command, sizeof command, "'%s' %s -x c -o %s - <<'END'\n%sEND\n", (const char *)user, flags, out,
		source);
	if (system(command) == 0 && (file = fopen(out, "rb")) != NULL) {
		size = fread(code, 1, sizeof code, file);
		fclose(file);
	}
	unlink(out);
	if (size == 0 || size == sizeof code)
		return JITCACHE_ERR_COMPILE; /* gives the lease up; our caller gets this status */
	return jitcache_commit(lease, code, size, NULL, NULL);
}

static void must(int32_t status)
{
	if (status >= 0)
		return;
	fprintf(stderr, "minimal: %s: %s\n", jitcache_status_name(status), jitcache_last_error());
	exit(1);
}

int main(int argc, char **argv)
{
	jitcache_cache *cache;
	jitcache_key *key;
	jitcache_blob *blob;
	const char *path;
	void *library;
	double (*f)(double);

	if (argc != 2) {
		fprintf(stderr, "usage: minimal COMPILER\n");
		return 2;
	}
	must(jitcache_open(NULL, &cache));
	must(jitcache_key_new(&key));
	must(jitcache_key_add(key, "source", source, strlen(source)));
	must(jitcache_key_add(key, "flags", flags, strlen(flags)));
	must(jitcache_key_add_tool(key, "compiler", argv[1]));
	must(jitcache_key_set_kind(key, "native"));

	/* There is a blob with JITCACHE_NOT_STORED too: the program goes on although the disk is full. */
	must(jitcache_get_or_compile(cache, key, -1, compile, argv[1], &blob));
	must(jitcache_blob_path(blob, &path));
	library = dlopen(path, RTLD_NOW);
	if (library == NULL || (*(void **)&f = dlsym(library, "f")) == NULL) {
		fprintf(stderr, "minimal: %s\n", dlerror());
		return 1;
	}
	printf("f(3) = %g\n", f(3));

	jitcache_blob_release(blob);
	jitcache_key_free(key);
	must(jitcache_close(cache));
	return 0;
}
