/* table.h: a hash table of items by their paths. */
#ifndef JO_TABLE_H
#define JO_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A compile with forty -I and eight hundred headers looks for thirty thousand names. The
 * table uses open addressing; its size is a power of two, and it is at most two thirds full.
 * A table that is all zero is empty. */
typedef struct jo_table {
	void **places; /* items, each of which begins with a char *path */
	uint32_t *hashes;
	size_t room, used;
} jo_table;

/* jo_table_find returns the item of a path. If there is none, it returns NULL if size is 0;
 * else it makes one of size bytes, all zero except for a copy of the path. Items never move
 * and are never freed: the tracer ends with the tree. */
void *jo_table_find(jo_table *t, const char *path, size_t size);

/* jo_table_next returns the items one after the other, NULL at the end. at is 0 at first. No
 * item may be made in between. */
void *jo_table_next(const jo_table *t, size_t *at);

/* jo_hash is FNV-1a of a string. */
uint32_t jo_hash(const char *s);

/* jo_copy copies n bytes and puts a NUL behind them. The copy is never freed. */
char *jo_copy(const char *s, size_t n);

#endif
