/* request.c: reads the request. */
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* strings returns n strings that lie between *at and end, and moves *at behind them. */
static char **strings(char **at, const char *end, uint32_t n)
{
	if (n > (size_t)(end - *at))
		return NULL;
	char **all = calloc((size_t)n + 1, sizeof *all);
	for (uint32_t i = 0; all != NULL && i < n; i++) {
		char *stop = memchr(*at, 0, (size_t)(end - *at));
		if (stop == NULL)
			return NULL;
		all[i] = *at;
		*at = stop + 1;
	}
	return all;
}

int jo_request_read(int fd, jo_request *r)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof r->head)
		return 0;
	size_t size = (size_t)st.st_size, done = 0;
	char *all = malloc(size);
	while (all != NULL && done < size) {
		ssize_t n = pread(fd, all + done, size - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	if (all == NULL)
		return 0;
	close(fd);
	memcpy(&r->head, all, sizeof r->head);
	if (r->head.magic != JO_MAGIC || r->head.narguments == 0)
		return 0;
	char *at = all + sizeof r->head, **folder = strings(&at, all + size, 1);
	r->arguments = strings(&at, all + size, r->head.narguments);
	r->variables = strings(&at, all + size, r->head.nvariables);
	r->deciders = strings(&at, all + size, r->head.ndeciders);
	r->folder = folder == NULL ? NULL : folder[0];
	free(folder);
	return r->folder != NULL && r->arguments != NULL && r->variables != NULL && r->deciders != NULL;
}
