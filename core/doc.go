// Package core puts the parts of a cache together: memory, then disk, then a lease
// to compile.
//
//	c, err := core.Open(core.Options{})
//	b, lease, status, why := c.Acquire(k, -1, false, true)
//	if status == core.Leased {
//		b, why = lease.Commit(compile(), "", true)
//	}
//
// It decides policy and nothing else: which directory, which tiers, what is
// counted, logged and explained. Package store decides how a file looks, and
// package lease who may compile.
//
// A Cache never fails its caller because of the system or another process. A
// lookup that cannot be answered is a miss with a [store.Reason]. A result that
// cannot be stored is returned with one. Only wrong use is an error.
package core
