/* image.c: makes images, and checks those that a driver is to load. */
#include "image.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* fits reports whether code for one compute capability runs on a device. A later minor
 * version runs code for an earlier one; exact code runs only on its own version. */
static int fits(int made_for, int exact, int has)
{
	return exact ? made_for == has : made_for / 10 == has / 10 && made_for <= has;
}

/* check_cubin checks an ELF file of unknown length, and finds its length. The compute
 * capability is in the low byte of the flags up to CUDA 12's ABI, 0x33, and in the
 * second byte since 0x41. Another bit means sm_90a and the like. */
static int check_cubin(const unsigned char *p, int capability, size_t *size)
{
	Elf64_Ehdr e;
	memcpy(&e, p, sizeof e);
	int old = e.e_ident[EI_OSABI] == 0x33, new = e.e_ident[EI_OSABI] == 0x41;
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != 190 || !(old || new) ||
		e.e_shentsize != sizeof(Elf64_Shdr) || e.e_shoff >= 1 << 30 || e.e_phoff >= 1 << 30)
		return IMAGE_INVALID;
	size_t end = e.e_shoff + (size_t)e.e_shnum * sizeof(Elf64_Shdr);
	if (e.e_phoff + (size_t)e.e_phnum * sizeof(Elf64_Phdr) > end)
		end = e.e_phoff + (size_t)e.e_phnum * sizeof(Elf64_Phdr);
	*size = end;
	for (int i = 0; i < e.e_shnum; i++) {
		Elf64_Shdr h;
		memcpy(&h, p + e.e_shoff + (size_t)i * sizeof h, sizeof h);
		if (h.sh_type != SHT_NOBITS && (h.sh_offset > end || h.sh_size > end - h.sh_offset))
			return IMAGE_INVALID;
	}
	int made_for = (int)(e.e_flags >> (old ? 0 : 8) & 0xff), exact = (e.e_flags & (old ? 0x800 : 0x8)) != 0;
	return fits(made_for, exact, capability) ? IMAGE_OK : IMAGE_FOR_ANOTHER;
}

/* check_ptx checks a PTX text. */
static int check_ptx(const char *p, int capability, size_t *size)
{
	int target = 0;
	const char *at = strstr(p, ".target sm_");
	*size = strlen(p) + 1;
	if (strstr(p, ".version ") == NULL || at == NULL || sscanf(at, ".target sm_%d", &target) != 1)
		return IMAGE_INVALID;
	return target <= capability ? IMAGE_OK : IMAGE_BAD_PTX;
}

int image_check(const void *image, int capability, size_t *size)
{
	return memcmp(image, ELFMAG, SELFMAG) == 0 ? check_cubin(image, capability, size)
	                                           : check_ptx(image, capability, size);
}

int image_has(const void *image, const char *name)
{
	const unsigned char *p = image;
	if (memcmp(p, ELFMAG, SELFMAG) != 0) {
		size_t n = strlen(name);
		for (const char *at = (const char *)p; (at = strstr(at, ".entry ")) != NULL;) {
			at += strlen(".entry ");
			if (strncmp(at, name, n) == 0 && strcspn(at, " (\n") == n)
				return 1;
		}
		return 0;
	}
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)p;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(p + e->e_shoff);
	for (int i = 0; i < e->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= e->e_shnum)
			continue;
		const Elf64_Sym *symbols = (const Elf64_Sym *)(p + sections[i].sh_offset);
		const char *names = (const char *)(p + sections[sections[i].sh_link].sh_offset);
		for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
			if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_shndx != 0 &&
				strcmp(names + symbols[k].st_name, name) == 0)
				return 1;
	}
	return 0;
}

/* put appends bytes to an image, at a multiple of eight, and returns where. */
static size_t put(unsigned char **image, size_t *size, const void *bytes, size_t n)
{
	size_t at = (*size + 7) & ~(size_t)7;
	*image = realloc(*image, at + n);
	memset(*image + *size, 0, at - *size);
	memcpy(*image + at, bytes, n);
	*size = at + n;
	return at;
}

unsigned char *image_cubin(int capability, int exact, const char *names, const char *note, size_t *size)
{
	enum { NONE, TEXTS, SYMBOLS, CODE, SECTIONS };
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x41, 8},
		.e_type = ET_EXEC,
		.e_machine = 190,
		.e_version = 1,
		.e_flags = 0x06000002u | (exact ? 8 : 0) | (unsigned)capability << 8,
		.e_ehsize = sizeof e,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = TEXTS};
	Elf64_Shdr sections[SECTIONS] = {{0}, {.sh_type = SHT_STRTAB},
		{.sh_type = SHT_SYMTAB, .sh_link = TEXTS, .sh_entsize = sizeof(Elf64_Sym)}, {.sh_type = SHT_PROGBITS}};
	Elf64_Sym symbols[256] = {{0}};
	unsigned char *image = NULL, *texts = NULL;
	size_t ntexts = 0, count = 1;
	*size = 0;
	put(&texts, &ntexts, "", 1);
	for (const char *name = names; *name != 0 && count < 256; name += strlen(name) + 1, count++) {
		symbols[count].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		symbols[count].st_shndx = CODE;
		symbols[count].st_name = (Elf64_Word)put(&texts, &ntexts, name, strlen(name) + 1);
	}
	put(&image, size, &e, sizeof e);
	const void *parts[SECTIONS] = {NULL, texts, symbols, note};
	const size_t sizes[SECTIONS] = {0, ntexts, count * sizeof *symbols, strlen(note)};
	for (int i = TEXTS; i < SECTIONS; i++) {
		sections[i].sh_offset = put(&image, size, parts[i], sizes[i]);
		sections[i].sh_size = sizes[i];
	}
	e.e_shoff = put(&image, size, sections, sizeof sections);
	memcpy(image, &e, sizeof e);
	free(texts);
	return image;
}
