/* folder.c: the getcwd that NVRTC calls. */
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int shown;

void jw_folder_show(int yes) { shown = yes; }
int jw_folder_shown(void) { return shown; }

/* The symbols of an executable come before libc's. */
__attribute__((visibility("default"))) char *getcwd(char *buffer, size_t size)
{
	char name[4096] = ".";
	if (shown && syscall(SYS_getcwd, name, sizeof name) < 0)
		return NULL;
	size_t n = strlen(name) + 1;
	if (buffer == NULL)
		buffer = malloc(size == 0 ? n : size);
	else if (size == 0) {
		errno = EINVAL;
		return NULL;
	}
	if (size != 0 && size < n) {
		errno = ERANGE;
		return NULL;
	}
	return buffer == NULL ? NULL : memcpy(buffer, name, n);
}
