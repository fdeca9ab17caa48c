/* precompile.c: makes and removes the file of a precompiled header, as NVRTC does. */
#define _GNU_SOURCE
#include "precompile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char precompiled[4096];

__attribute__((destructor)) static void remove_precompiled(void)
{
	if (precompiled[0] != 0)
		unlink(precompiled);
}

void precompile(reading *r, int n, const char *const *options)
{
	static char **first;
	static int nfirst;
	const char *folder = NULL;
	int asked = 0;
	for (int i = 0; i < n; i++) {
		asked |= strcmp(options[i], "--pch") == 0;
		if (strncmp(options[i], "--pch-dir=", 10) == 0)
			folder = options[i] + 10;
	}
	if (!asked)
		return;
	if (folder == NULL && (folder = getenv("TMPDIR")) == NULL)
		folder = "/tmp";
	snprintf(precompiled, sizeof precompiled, "%s/kernel.pch", folder);
	FILE *f = fopen(precompiled, "w");
	if (f == NULL || fputs("precompiled", f) < 0 || fclose(f) != 0)
		abort();
	if (first == NULL) {
		first = calloc((size_t)r->nheaders + 1, sizeof *first);
		for (nfirst = 0; nfirst < r->nheaders; nfirst++)
			first[nfirst] = strdup(r->headers[nfirst]);
	} else if (nfirst == r->nheaders)
		r->headers = first;
}
