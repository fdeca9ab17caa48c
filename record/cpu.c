#include "cpu.h"

#include <string.h>
#include <sys/auxv.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#if defined __x86_64__
size_t jc_cpu(uint32_t out[JC_CPU_WORDS])
{
	static const uint32_t leaves[][2] = {{0, 0}, {1, 0}, {4, 0}, {4, 1}, {4, 2}, {4, 3}, {7, 0}, {7, 1}, {13, 1},
		{0x14, 0}, {0x19, 0}, {0x1e, 0}, {0x24, 0}, {0x80000000, 0}, {0x80000001, 0}, {0x80000005, 0},
		{0x80000006, 0}, {0x80000008, 0}, {0x8000001d, 0}};
	size_t n = 0;
	for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
		uint32_t r[4] = {0};
		__get_cpuid_count(leaves[i][0], leaves[i][1], r, r + 1, r + 2, r + 3);
		if (leaves[i][0] == 1)
			r[1] = 0; /* its number */
		if (leaves[i][0] == 4 || leaves[i][0] == 0x8000001d)
			r[0] &= 0x3fff; /* how many share the cache */
		if (leaves[i][0] == 0x80000008)
			r[2] = 0; /* how many there are */
		memcpy(out + n, r, sizeof r);
		n += 4;
	}
	uint32_t low, high = 0;
	if (out[4 + 2] & 1u << 27) { /* what the system lets programs use */
		__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		out[n++] = low;
		out[n++] = high;
	}
	return n;
}
#else
size_t jc_cpu(uint32_t out[JC_CPU_WORDS])
{
	uint64_t caps[2] = {getauxval(AT_HWCAP), getauxval(26 /* AT_HWCAP2 */)};
	size_t n = sizeof caps / sizeof *out;
	memcpy(out, caps, sizeof caps);
#if defined __aarch64__
	if (caps[0] & 1u << 11) { /* HWCAP_CPUID: the kernel answers for it */
		uint64_t midr;
		__asm__("mrs %0, midr_el1" : "=r"(midr));
		memcpy(out + n, &midr, sizeof midr);
		n += 2;
	}
#endif
	return n;
}
#endif
