/* entry.h: the file of an entry, as far as the front knows it. */
#ifndef JC_ENTRY_H
#define JC_ENTRY_H

#include <stdint.h>

/* jc_entry_open opens the file of an entry. path is what those of all begin with
 * (jc_opened). It returns -ENOENT if there is none; with any other error the core
 * is to try, and to say why not. */
int jc_entry_open(const char *path, const uint8_t id[32]);

#endif
