/* vdso.c: replaces the functions of the vDSO in a new process. */
#include "vdso.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

/* stub makes the code of a function that makes a system call: it loads the call's number, makes the
 * call and returns. The kernel takes the same arguments in the same registers, and the functions
 * return minus an errno too. */
#ifdef __x86_64__
enum { STUB = 8 };

static void stub(uint8_t into[STUB], uint32_t number)
{
	const uint8_t code[STUB] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3};
	memcpy(into, code, STUB);
	memcpy(into + 1, &number, sizeof number);
}
#else
enum { STUB = 12 };

static void stub(uint8_t into[STUB], uint32_t number)
{
	const uint32_t code[] = {0xd2800008 | number << 5, 0xd4000001, 0xd65f03c0};
	memcpy(into, code, STUB);
}
#endif

/* The functions that tell the time, with the numbers of their calls, and those that tell nothing
 * that counts (compare harmless[] of calls.c). The kernel gives some of them two names. */
static const struct {
	const char *name;
	int number; /* -1: it may stay as it is */
} functions[] = {
#ifdef __x86_64__
	{"clock_gettime", SYS_clock_gettime},
	{"gettimeofday", SYS_gettimeofday},
	{"time", SYS_time},
	{"clock_getres", -1},
	{"getcpu", -1},
	{"getrandom", -1},
	{"sgx_enter_enclave", -1},
#else
	{"clock_gettime", SYS_clock_gettime},
	{"gettimeofday", SYS_gettimeofday},
	{"clock_getres", -1},
	{"getrandom", -1},
	{"rt_sigreturn", -1},
#endif
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Where the functions to be replaced are in the page, and the calls that replace them. All
 * processes of this machine's architecture have the same page. */
static struct {
	uint64_t offset;
	uint32_t number;
} found[8];
static size_t nfound;

/* known returns the index of the function with this name, -1 if it is not in the list. */
static int known(const char *name)
{
	const char *const prefixes[] = {"__vdso_", "__kernel_"};
	for (size_t i = 0; i < 2; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
	for (int i = 0; i < FUNCTIONS; i++)
		if (strcmp(name, functions[i].name) == 0)
			return i;
	return -1;
}

/* note notes a symbol of the page. It returns 0 if that is a function that is not known or cannot
 * be replaced. */
static int note(const Elf64_Sym *s, const char *name)
{
	int which = ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF ? known(name) : -2;
	if (which == -2 || (which >= 0 && functions[which].number < 0))
		return 1;
	for (size_t i = 0; i < nfound; i++)
		if (which >= 0 && found[i].offset == s->st_value)
			return 1;
	if (which < 0 || s->st_size < STUB || nfound == sizeof found / sizeof *found)
		return 0;
	found[nfound].offset = s->st_value;
	found[nfound++].number = (uint32_t)functions[which].number;
	return 1;
}

/* learn reads the tracer's own page. It returns 0 if something in it is not known. */
static int learn(void)
{
	const uint8_t *page = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)page;
	const Elf64_Dyn *d = NULL;
	const uint8_t *symbols = NULL, *strings = NULL;
	if (page == NULL)
		return 0;
	const Elf64_Phdr *h = (const Elf64_Phdr *)(page + e->e_phoff);
	for (int i = 0; i < e->e_phnum; i++) {
		if (h[i].p_type == PT_LOAD && h[i].p_vaddr != h[i].p_offset)
			return 0; /* addresses in it are not offsets in the page */
		if (h[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(page + h[i].p_offset);
	}
	for (; d != NULL && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = page + d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = page + d->d_un.d_ptr;
	}
	/* The names begin where the table of symbols ends. */
	if (symbols == NULL || strings <= symbols)
		return 0;
	const Elf64_Sym *s = (const Elf64_Sym *)symbols;
	for (size_t n = (size_t)(strings - symbols) / sizeof *s; n > 0; n--, s++)
		if (!note(s, (const char *)strings + s->st_name))
			return 0;
	return nfound > 0;
}

int jo_vdso_asks(jo_process *p, uint64_t at)
{
	static int learnt = -1;
	if (learnt < 0)
		learnt = learn();
	for (size_t i = 0; i < nfound && learnt; i++) {
		uint8_t code[STUB];
		stub(code, found[i].number);
		if (!jo_process_write(p, at + found[i].offset, code, STUB))
			return 0;
	}
	return learnt;
}
