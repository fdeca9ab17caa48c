/* lease.h: leases as the host holds them. */
#ifndef JC_LEASE_H
#define JC_LEASE_H

#include "core.h"
#include "handles.h"

/* jc_lease_take ends a lease and gives the caller the core's lease, *core, to go on
 * with; it is NULL in a forked child whose parent was granted the lease. *cache is the
 * lease's cache, entered, or 0 if it was closed. It returns 0 for a bad handle. */
int jc_lease_take(jitcache_lease *lease, void **core, jc_handle *cache);

#endif
