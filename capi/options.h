/* options.h: the settings that a cache is opened with. */
#ifndef JC_OPTIONS_H
#define JC_OPTIONS_H

#include <stddef.h>

#include "handles.h"

/* jc_settings packs the options, which may be 0, and the environment for the core's
 * open. *settings is malloc'd. */
int32_t jc_settings(jc_handle options, char **settings, size_t *size);

#endif
