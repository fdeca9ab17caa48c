/* build_id.c: reads the build id from a loaded library and from a file. */
#include "build_id.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

#define MAX_ID 64

/* note_id finds the GNU build id among ELF notes and returns its length. */
static size_t note_id(const unsigned char *p, size_t n, unsigned char id[MAX_ID])
{
	while (n >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) h;
		memcpy(&h, p, sizeof h);
		size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3, desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name + desc > n - sizeof h)
			return 0;
		const unsigned char *at = p + sizeof h;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
			h.n_descsz <= MAX_ID) {
			memcpy(id, at + name, h.n_descsz);
			return h.n_descsz;
		}
		p = at + name + desc;
		n -= sizeof h + name + desc;
	}
	return 0;
}

struct own {
	size_t len;
	unsigned char id[MAX_ID];
};

/* find_own finds the build id in memory, which is that of the running code. */
static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct own *own = data;
	int here = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + p->p_vaddr, self = (uintptr_t)&jitcache_private_core;
		if (p->p_type == PT_LOAD && self >= low && self < low + p->p_memsz)
			here = 1;
	}
	for (int i = 0; here && i < info->dlpi_phnum && own->len == 0; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_NOTE)
			own->len = note_id((const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, own->id);
	}
	return here;
}

/* file_id reads the build id of an ELF file. */
static size_t file_id(int fd, unsigned char id[MAX_ID])
{
	ElfW(Ehdr) e;
	if (pread(fd, &e, sizeof e, 0) != sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	for (int i = 0; i < e.e_phnum; i++) {
		ElfW(Phdr) p;
		unsigned char notes[4096];
		if (pread(fd, &p, sizeof p, (off_t)(e.e_phoff + (size_t)i * sizeof p)) != sizeof p)
			return 0;
		if (p.p_type != PT_NOTE || p.p_filesz > sizeof notes)
			continue;
		if (pread(fd, notes, p.p_filesz, (off_t)p.p_offset) != (ssize_t)p.p_filesz)
			return 0;
		size_t len = note_id(notes, p.p_filesz, id);
		if (len > 0)
			return len;
	}
	return 0;
}

int jc_build_id_is_own(int fd)
{
	struct own own = {0};
	unsigned char id[MAX_ID];
	dl_iterate_phdr(find_own, &own);
	size_t len = file_id(fd, id);
	return own.len > 0 && len == own.len && memcmp(id, own.id, len) == 0;
}
