/* lease.h: leases as the host holds them. */
#ifndef JC_LEASE_H
#define JC_LEASE_H

#include "core.h"

/* jc_lease_id writes the id of the key that a lease is for, and returns 0 for a
 * bad handle. */
int jc_lease_id(jitcache_lease *lease, uint8_t id[32]);

#endif
