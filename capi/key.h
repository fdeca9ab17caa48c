/* key.h: keys. */
#ifndef JC_KEY_H
#define JC_KEY_H

#include <stdatomic.h>

#include "core.h"

typedef struct jc_key {
	uint8_t *_Atomic sealed; /* NULL until frozen */
	size_t nsealed;
	jc_bytes packed; /* components */
	jc_bytes inputs; /* files that were read */
	char *name;
	char kind[17];
} jc_key;

/* jc_key_open enters a key that is not frozen. Otherwise it returns NULL and sets
 * *status. */
jc_key *jc_key_open(jitcache_key *key, int32_t *status);

/* jc_key_seal freezes a key and returns its sealed form, which lives as long
 * as the key. If it returns NULL, *status is the status to return. */
const uint8_t *jc_key_seal(jc_key *k, size_t *size, int32_t *status);

/* jc_key_sealed returns the sealed form of a frozen key, NULL if it is not
 * frozen. */
const uint8_t *jc_key_sealed(jc_key *k);

/* jc_key_from_sealed makes a key from a sealed form, which it copies. */
int32_t jc_key_from_sealed(const void *sealed, size_t size, jitcache_key **key);

/* Offsets of the id and the kind in a sealed key: key.SealedID and SealedKind in Go. */
#define JC_SEALED_ID 8
#define JC_SEALED_KIND 40

#endif
