/* bytes.h: bytes that grow, and numbers in them. */
#ifndef JC_BYTES_H
#define JC_BYTES_H

#include "core.h"

/* jc_bytes_reserve makes room for n more bytes, and returns 0 if there is no
 * memory. jc_bytes_append adds n bytes that there is room for. */
int jc_bytes_reserve(jc_bytes *b, size_t n);
void jc_bytes_append(jc_bytes *b, const void *p, size_t n);

/* jc_hex writes 2 * n digits for n bytes, a multiple of four. */
void jc_hex(char *out, const uint8_t *p, size_t n);

/* jc_little reads a little-endian number of n bytes, jc_put_little writes one. */
uint64_t jc_little(const uint8_t *p, int n);
void jc_put_little(uint8_t *p, uint64_t v, int n);

#endif
