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
// counted, logged and explained. Package store decides how a file looks,
// package lease who may compile.
//
// A Cache never fails its caller for what the system or another process does:
// a lookup that cannot be answered is a miss with a [store.Reason], a result
// that cannot be stored is returned with one. Only wrong use is an error.
package core
