/* table.h: things by their path. */
#ifndef JO_TABLE_H
#define JO_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A compile with forty -I and eight hundred headers looks for thirty thousand
 * names: a table is open addressing, a power of two of places, at most two thirds
 * full. All zero it is empty. */
typedef struct jo_table {
	void **places; /* things, each of which begins with a char *path */
	uint32_t *hashes;
	size_t room, used;
} jo_table;

/* jo_table_find returns the thing of a path. Without size it returns NULL if there
 * is none; else it makes one of that many bytes, all zero but the path, which is a
 * copy. Things stay where they are, for ever: the tracer ends with the tree. */
void *jo_table_find(jo_table *t, const char *path, size_t size);

/* jo_table_next returns the things one after the other, NULL at the end; at is 0
 * first. Nothing may be made in between. */
void *jo_table_next(const jo_table *t, size_t *at);

/* jo_hash is FNV-1a of a string. */
uint32_t jo_hash(const char *s);

/* jo_copy copies n bytes and puts a NUL behind them. The copy stays for ever. */
char *jo_copy(const char *s, size_t n);

#endif
