/* native_request.c: how a C compiler is to be called. The letters of the parts are
 * those of native/request.go. */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "bytes.h"
#include "core.h"
#include "handles.h"
#include "locks.h"
#include "request.h"
#include "thread.h"

/* add_variable adds what the environment has, as NAME=value. */
static int add_variable(jc_request *r, char letter, const char *name)
{
	const char *value = getenv(name);
	if (value == NULL)
		return 1;
	size_t n = strlen(name), m = strlen(value);
	if (!jc_request_begin(r, letter, n + 1 + m))
		return 0;
	jc_bytes_append(&r->packed, name, n);
	jc_bytes_append(&r->packed, "=", 1);
	jc_bytes_append(&r->packed, value, m);
	return 1;
}

/* add_environment adds the variables that compilers and their wrappers obey. */
static int add_environment(jc_request *r)
{
	static const char *const names[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
		"COMPILER_PATH", "GCC_EXEC_PREFIX", "GCC_ROOT", "SOURCE_DATE_EPOCH", "LD_RUN_PATH",
		"CCC_OVERRIDE_OPTIONS", "CLANG_CONFIG_FILE_SYSTEM_DIR", "CLANG_CONFIG_FILE_USER_DIR", "OMPI_CC",
		"OMPI_CXX", "OMPI_CFLAGS", "OMPI_CXXFLAGS", "OMPI_CPPFLAGS", "OMPI_LDFLAGS", "OMPI_LIBS", "MPICH_CC",
		"MPICH_CXX", "I_MPI_CC", "I_MPI_CXX", "SYSROOT", "LDEMULATION", "GNUTARGET", "LD_AS_NEEDED",
		"COLLECT_NO_DEMANGLE"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!add_variable(r, 'e', names[i]))
			return 0;
	if (!add_variable(r, 'l', "LD_LIBRARY_PATH") || !add_variable(r, 'l', "LD_PRELOAD"))
		return 0;
	const char *path = getenv("PATH");
	return path == NULL || jc_request_add(r, 'P', path, strlen(path));
}

#if defined __x86_64__
/* processor asks the processor all that -march=native asks: features, model,
 * caches. What tells one core of it from another is left out. */
static size_t processor(uint32_t *out)
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
static size_t processor(uint32_t *out)
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

/* add_processor says what "native" means here. It asks once in a process: where
 * the processor is a virtual one each question takes 30 us. */
static int add_processor(jc_request *r)
{
	static uint32_t words[96];
	static size_t count;
	jc_mutex_lock(&jc_freeze_lock);
	if (count == 0)
		count = processor(words);
	jc_mutex_unlock(&jc_freeze_lock);
	return jc_request_add(r, 'u', words, count * sizeof *words);
}

int32_t jitcache_native_request_new(jitcache_native_request **out)
{
	if (out == NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native request: NULL");
	*out = NULL;
	jc_request *r = calloc(1, sizeof *r);
	jc_handle h = jc_request_publish(r, JC_NATIVE, r != NULL && add_environment(r));
	if (h == 0)
		return JITCACHE_ERR_MEMORY;
	*out = JC_POINTER(jitcache_native_request, h);
	return JITCACHE_OK;
}

void jitcache_native_request_free(jitcache_native_request *request)
{
	jc_request_release(JC_HANDLE(request), JC_NATIVE);
}

/* is_native tells flags that mean this processor. */
static int is_native(const char *text, size_t size) { return size > 7 && memcmp(text + size - 7, "=native", 7) == 0; }

int32_t jitcache_native_request_add(jitcache_native_request *request, int32_t part, const void *data, size_t size)
{
	if (data == NULL || part <= 0 || part > 127 || strchr("cokNfstxy", part) == NULL)
		return jc_fail(
			JITCACHE_ERR_ARGUMENT, data == NULL ? "native request: NULL" : "native request: unknown part");
	if (part != 't' && part != 'y' && memchr(data, 0, size) != NULL)
		return jc_fail(JITCACHE_ERR_ARGUMENT, "native request: has a NUL");
	int32_t status = JITCACHE_OK;
	jc_request *r = jc_request_open(JC_HANDLE(request), JC_NATIVE, &status);
	if (r == NULL)
		return status;
	size_t before = r->packed.size;
	if (!jc_request_add(r, (char)part, data, size) ||
		((part == 'o' || part == 'c') && is_native(data, size) && !add_processor(r))) {
		r->packed.size = before;
		status = jc_fail(JITCACHE_ERR_MEMORY, "native request: no memory");
	}
	jc_handle_leave(JC_HANDLE(request));
	return status;
}
