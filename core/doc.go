// Package core is the cache as one thing: memory, then disk, then a lease to
// compile.
//
//	c, err := core.Open(core.Options{})
//	b, lease, status := c.Acquire(k, deadline)
//	if status == core.Leased {
//		b, why = lease.Commit(compile(), "")
//	}
//
// It decides policy and nothing else: which directory, which tiers, what is
// counted, logged and explained. How a file looks is package store's, who may
// compile is package lease's.
//
// A Cache never fails its caller for what the system or another process does:
// a lookup that cannot be answered is a miss with a [store.Reason], a result
// that cannot be stored is handed back with one. Only wrong use is an error.
package core
