/* compiles.c: NVRTC that logs: each compile appends a line to the file
 * COMPILE_LOG. It is linked to the real libnvrtc, which answers all else. For
 * processes that compile one thing at a time, as the demo's do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char name[64]; /* of the last program */

int nvrtcCreateProgram(void **program, const char *source, const char *file, int n, const char *const *texts,
	const char *const *headers)
{
	int (*real)(void **, const char *, const char *, int, const char *const *, const char *const *);
	*(void **)&real = dlsym(RTLD_NEXT, "nvrtcCreateProgram");
	snprintf(name, sizeof name, "%s", file);
	return real(program, source, file, n, texts, headers);
}

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
	int (*real)(void *, int, const char *const *);
	*(void **)&real = dlsym(RTLD_NEXT, "nvrtcCompileProgram");
	int fd = open(COMPILE_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	dprintf(fd, "nvrtcCompileProgram %s (process %d)\n", name, (int)getpid());
	close(fd);
	return real(program, n, options);
}
