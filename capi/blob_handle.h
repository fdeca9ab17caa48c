/* blob_handle.h: blobs as the host sees them. */
#ifndef JC_BLOB_HANDLE_H
#define JC_BLOB_HANDLE_H

#include "core.h"
#include "handles.h"

/* jc_blob_handle makes a public handle that owns b, and stores it in *blob. If there is no
 * memory, it releases b. cache may be 0. */
int32_t jc_blob_handle(jc_blob *b, jc_handle cache, jitcache_blob **blob);

#endif
