/* native_run.c: asking a compiler: its command is run in a private folder, with
 * the sources that are in memory beside it. */
#include "native_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytes.h"
#include "leftovers.h"
#include "request.h"
#include "thread.h"

extern char **environ;

/* What the core names no source. */
#define OUT ".out"
#define LOG ".log"

/* Of the folders. */
#define PREFIX "jitcache-ask-"

static int write_file(int folder, const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return 0;
	while (size > 0) {
		ssize_t n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		data += n;
		size -= (size_t)n;
	}
	return close(fd) == 0 && size == 0;
}

/* write_sources writes the sources in memory. The core has looked at the parts
 * and their names. */
static int write_sources(int folder, const jc_parts *parts)
{
	const uint8_t *p = parts->packed, *end = p + parts->npacked;
	char name[256] = "";
	for (; p < end; p += JC_PART_HEAD + jc_little(p + 1, 8)) {
		size_t size = (size_t)jc_little(p + 1, 8);
		if (*p == 's') {
			if (size >= sizeof name)
				return 0;
			memcpy(name, p + JC_PART_HEAD, size);
			name[size] = 0;
		} else if (*p == 't' && !write_file(folder, name, p + JC_PART_HEAD, size))
			return 0;
	}
	return 1;
}

static int read_file(int folder, const char *name, jc_bytes *out)
{
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	int ok = fd >= 0 && fstat(fd, &st) == 0 && jc_bytes_reserve(out, (size_t)st.st_size + 1);
	while (ok && out->size < (size_t)st.st_size) {
		ssize_t n = read(fd, out->data + out->size, (size_t)st.st_size - out->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		out->size += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

/* environment copies the host's variables, but those that make compilers write
 * files, or speak other languages. The strings are not copied. */
static char **environment(void)
{
	static const char *const without[] = {"LC_ALL=", "LANGUAGE=", "DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES="};
	size_t n = 0, m = 0;
	while (environ != NULL && environ[n] != NULL)
		n++;
	char **copy = calloc(n + 2, sizeof *copy);
	for (size_t i = 0; copy != NULL && i < n; i++) {
		int keep = 1;
		for (size_t j = 0; j < sizeof without / sizeof *without; j++)
			keep &= strncmp(environ[i], without[j], strlen(without[j])) != 0;
		if (keep)
			copy[m++] = environ[i];
	}
	if (copy != NULL)
		copy[m] = "LC_ALL=C";
	return copy;
}

/* spawn runs the words of a question, each ended by a NUL, and returns the exit
 * status, -1 if it cannot be run. A shell changes into the folder: posix_spawn
 * does not before glibc 2.29. */
static int spawn(const char *folder, const char *words, size_t size)
{
	size_t n = 0, i = 6;
	for (size_t at = 0; at < size; at++)
		n += words[at] == 0;
	char **argv = calloc(n + 8, sizeof *argv), **env = environment();
	if (argv == NULL || env == NULL) {
		free(argv);
		free(env);
		return -1;
	}
	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = "cd \"$1\" && shift && exec \"$@\" <"
		  "/dev/null >" OUT " 2>" LOG;
	argv[3] = "jitcache";
	argv[4] = (char *)folder;
	i = 5;
	for (const char *w = words; w < words + size; w += strlen(w) + 1)
		argv[i++] = (char *)w;
	posix_spawnattr_t how;
	sigset_t none, defaults;
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &defaults);
	pid_t pid;
	int status = -1;
	if (posix_spawn(&pid, "/bin/sh", NULL, &how, argv, env) == 0) {
		pid_t got;
		do
			got = waitpid(pid, &status, 0);
		while (got < 0 && errno == EINTR);
		/* A host that reaps all children, or ignores them, has the status: what
		 * was printed has to do. */
		status = got < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	posix_spawnattr_destroy(&how);
	free(argv);
	free(env);
	return status;
}

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
	rmdir(path);
}

static void sweep(void) { jc_leftovers_sweep(jc_temp_folder(), PREFIX); }

/* sweep_once removes the folders of processes that were killed while they asked. */
static void sweep_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, sweep);
}

int32_t jc_native_ask(const jc_parts *parts, const char *words, size_t size, jc_answer *answer)
{
	const char *temp = jc_temp_folder();
	char path[4096];
	sweep_once();
	int n = snprintf(path, sizeof path, "%s/" PREFIX "XXXXXX", temp);
	if (n < 0 || (size_t)n >= sizeof path || mkdtemp(path) == NULL)
		return jc_fail(JITCACHE_ERR_PATH, "no folder to ask the compiler in: %s", strerror(errno));
	int32_t status = JITCACHE_OK;
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		jc_leftover_lock(folder);
	if (folder < 0 || !write_sources(folder, parts))
		status = jc_fail(JITCACHE_ERR_PATH, "sources cannot be written to %s", path);
	else {
		answer->status = spawn(path, words, size);
		if (!read_file(folder, OUT, &answer->out) || !read_file(folder, LOG, &answer->log))
			answer->status = answer->status == 0 ? -1 : answer->status;
	}
	if (folder >= 0)
		close(folder);
	remove_folder(path);
	return status;
}
