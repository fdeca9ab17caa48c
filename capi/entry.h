/* entry.h: the file of an entry, as far as the front knows it. */
#ifndef JC_ENTRY_H
#define JC_ENTRY_H

#include <stdint.h>

/* jc_entry_open opens the file of an entry. path is what the paths of all entries
 * begin with (jc_opened). It returns -ENOENT if there is none; after any other error
 * the core must try, and say why it fails. */
int jc_entry_open(const char *path, const uint8_t id[32]);

#endif
