/* entry.h: the file of an entry, as far as the front knows it. */
#ifndef JC_ENTRY_H
#define JC_ENTRY_H

#include "core.h"

/* jc_entry_open opens the file of an entry in the first directory that has one. paths
 * are jc_opened.entries. It sets file->fd to -ENOENT if no directory has one. After any
 * other error the core must try, and report why it fails. */
void jc_entry_open(const char *paths, const uint8_t id[32], jc_file *file);

#endif
