/* options.h: what a cache is opened with. */
#ifndef JC_OPTIONS_H
#define JC_OPTIONS_H

#include <stddef.h>

#include "handles.h"

/* jc_settings packs options (may be 0) and environment for the core's open. */
int32_t jc_settings(jc_handle options, char **settings, size_t *size);

#endif
