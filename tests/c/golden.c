/* The key vectors of tests/golden: argv[2] is keys.txt, a line a vector: the
 * packed components and the key, in hexadecimal. */
#include "check.h"

#include <ctype.h>

static const char *vectors;

static size_t unhex(const char *s, unsigned char *out)
{
	size_t n = 0;
	unsigned v;
	for (; isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1]); s += 2) {
		sscanf(s, "%2x", &v);
		out[n++] = (unsigned char)v;
	}
	return n;
}

static void packed_components_give_the_golden_keys(void)
{
	static char line[1 << 20];
	static unsigned char packed[1 << 19];
	FILE *f = fopen(vectors, "r");
	int n = 0;
	CHECK(f != NULL);
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *want = strrchr(line, ' ');
		char hex[65];
		jitcache_key *k;
		if (line[0] == '#' || want == NULL)
			continue;
		want[65] = 0;
		size_t size = unhex(line, packed);
		CHECK(jitcache_key_new(&k) == JITCACHE_OK);
		CHECK(jitcache_key_add_packed(k, packed, size) == JITCACHE_OK);
		CHECK(jitcache_key_hex(k, hex) == JITCACHE_OK);
		if (strcmp(hex, want + 1) != 0) {
			printf("line %d: %s, want %s\n", n + 1, hex, want + 1);
			check_bad = 1;
		}
		jitcache_key_free(k);
		n++;
	}
	if (f != NULL)
		fclose(f);
	CHECK(n >= 30);
}

int main(int argc, char **argv)
{
	vectors = argc > 2 ? argv[2] : "keys.txt";
	RUN(packed_components_give_the_golden_keys);
	DONE;
}
