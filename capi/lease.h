/* lease.h: leases as the host holds them. */
#ifndef JC_LEASE_H
#define JC_LEASE_H

#include "core.h"
#include "handles.h"

/* jc_lease_take ends a lease for whoever goes on with what the core has granted: *core,
 * or NULL where it is of the process that this one was forked from. *cache is entered,
 * 0 if it has been closed. It returns 0 for a bad handle. */
int jc_lease_take(jitcache_lease *lease, void **core, jc_handle *cache);

#endif
