#include "knobs.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int knob_number(const char *variable, int otherwise)
{
	const char *s = getenv(variable);
	return s != NULL && *s != 0 ? atoi(s) : otherwise;
}

int knob_failure(const char *variable, const char *call)
{
	static char text[1024];
	static int used[64];
	const char *now = getenv(variable);
	if (strcmp(now != NULL ? now : "", text) != 0) {
		snprintf(text, sizeof text, "%s", now != NULL ? now : "");
		memset(used, 0, sizeof used);
	}
	const char *p = text;
	for (int i = 0; i < 64 && *p != 0; i++) {
		size_t n = strcspn(p, "=");
		int code = 0, times = -1;
		sscanf(p + n, "=%d:%d", &code, &times);
		if (n == strlen(call) && strncmp(p, call, n) == 0 && (times < 0 || used[i]++ < times))
			return code;
		p += strcspn(p, ",");
		p += *p == ',';
	}
	return 0;
}

void knob_gate(const char *variable)
{
	const char *path = getenv(variable);
	while (path != NULL && *path != 0 && access(path, F_OK) == 0)
		usleep(1000);
}

void knob_log(const char *variable, const char *format, ...)
{
	const char *path = getenv(variable);
	int fd = path != NULL && *path != 0 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return;
	char line[512];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	n = n < (int)sizeof line - 2 ? n : (int)sizeof line - 2;
	line[n++] = '\n';
	if (write(fd, line, (size_t)n) != n)
		abort(); /* a witness that forgets is worse than none */
	close(fd);
}
