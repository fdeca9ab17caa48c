/* preprocess.h: reading a source and what it includes, as NVRTC does. */
#ifndef CUDATEST_PREPROCESS_H
#define CUDATEST_PREPROCESS_H

#include <stddef.h>

/* A growing buffer, with a NUL after its bytes. */
typedef struct text {
	char *p;
	size_t n;
} text;

void text_add(text *t, const char *s, size_t n);
__attribute__((format(printf, 2, 3))) void text_print(text *t, const char *format, ...);

enum { MAX_FOLDERS = 64, MAX_MACROS = 1024, MAX_FILES = 1024 };

/* The settings and the results of reading a source. Zero it before use. */
typedef struct reading {
	/* Given: headers in memory, and -I. */
	int nheaders;
	char **headers, **names;
	const char *folders[MAX_FOLDERS];
	int nfolders;
	/* Found. Lines that the compiler would see, without comments; and what it
	 * says, with whether it fails. */
	text seen, log;
	int failed;
	/* Kept meanwhile. */
	struct {
		char *name, *value;
	} macros[MAX_MACROS];
	int nmacros;
	char *once[MAX_FILES];
	int nonce, depth;
} reading;

/* define does what -D does, with NAME or NAME=VALUE. */
void define(reading *r, const char *definition);

/* read_source reads a source, whose name has its folder. */
void read_source(reading *r, const char *name, const char *source);

/* include reads a file like #include in a file of a given name. It is exported for
 * -include. */
void include(reading *r, const char *from, int line, const char *spelled, int quoted);

void reading_free(reading *r);

#endif
