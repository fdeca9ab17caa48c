/* nvrtc LIBRARY SOURCE NAME OUT [-H NAME FILE]... [-- OPTION...]: compiles a
 * source with the real NVRTC, with in-memory headers, and writes OUT: a cubin
 * or, with -arch=compute_…, PTX. "-" writes nothing. The log goes to stdout.
 * A stat of /nvrtc-begins and one of /nvrtc-ends enclose the compile, for
 * strace. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef void *prog;

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (f == NULL) {
		perror(path);
		exit(2);
	}
	size_t n = 0, room = 1 << 16;
	char *text = malloc(room);
	for (size_t got; (got = fread(text + n, 1, room - n - 1, f)) > 0;) {
		n += got;
		if (n + 1 >= room) {
			text = realloc(text, room *= 2);
		}
	}
	fclose(f);
	text[n] = 0;
	return text;
}

static void *symbol(void *lib, const char *name)
{
	void *p = dlsym(lib, name);
	if (p == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return p;
}

static int take(void *lib, prog p, const char *size, const char *get, const char *out)
{
	size_t n = 0;
	if (((int (*)(prog, size_t *))symbol(lib, size))(p, &n) != 0 || n == 0) {
		return 0;
	}
	char *data = malloc(n);
	if (((int (*)(prog, char *))symbol(lib, get))(p, data) != 0) {
		return 0;
	}
	if (out == NULL) {
		printf("%s\n", data);
		return 1;
	}
	FILE *f = fopen(out, "wb");
	fwrite(data, 1, n, f);
	fclose(f);
	return 1;
}

int main(int argc, char **argv)
{
	void *lib = argc < 5 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		fprintf(stderr, "%s\n", argc < 5 ? "usage" : dlerror());
		return 2;
	}
	const char *names[64], *texts[64];
	int headers = 0, i = 5;
	for (; i + 2 < argc && strcmp(argv[i], "-H") == 0; i += 3, headers++) {
		names[headers] = argv[i + 1];
		texts[headers] = slurp(argv[i + 2]);
	}
	if (i < argc && strcmp(argv[i], "--") == 0) {
		i++;
	}
	char *source = slurp(argv[2]);
	int (*create)(prog *, const char *, const char *, int, const char **, const char **) =
		symbol(lib, "nvrtcCreateProgram");
	int (*compile)(prog, int, const char **) = symbol(lib, "nvrtcCompileProgram");
	prog p;
	struct stat st;
	if (create(&p, source, argv[3], headers, texts, names) != 0) {
		return 2;
	}
	stat("/nvrtc-begins", &st);
	int status = compile(p, argc - i, (const char **)argv + i);
	stat("/nvrtc-ends", &st);
	take(lib, p, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", NULL);
	if (status == 0 && strcmp(argv[4], "-") != 0 && !take(lib, p, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", argv[4])) {
		take(lib, p, "nvrtcGetPTXSize", "nvrtcGetPTX", argv[4]);
	}
	return status == 0 ? 0 : 1;
}
