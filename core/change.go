// Change: what alters the entry of a key in the directory and in memory, in their order.

package core

import (
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// changeEntry runs fn, which changes the entry of a key in the directory, in the order that
// package memory asks for. fn returns whether the directory has changed, and what memory
// may keep. old says that the change makes the present entry out of date; dropped says
// that memory had that entry.
func (c *Cache) changeEntry(id *key.ID, old bool, fn func() (changed bool, keep *blob.Blob)) (dropped bool) {
	if c.memory == nil || c.store == nil && !c.Layered() {
		if _, keep := fn(); keep != nil {
			c.memory.Put(keep) // it is all there is
		}
		return false
	}
	changed, keep := true, (*blob.Blob)(nil)
	at, dropped := c.memory.Begin((*[32]byte)(id), old)
	defer func() {
		at.End(changed, keep)
		if !inOrder && keep != nil {
			c.memory.Put(keep)
		}
	}()
	changed, keep = fn()
	return dropped
}

func (c *Cache) writeItem(it store.Item) (store.Written, store.Reason) {
	if c.settings.mode == ModeOff {
		return store.Written{}, store.Off
	}
	if c.store == nil {
		if in := c.changedInput(it.Key); in != "" {
			return store.Written{}, store.InputChange
		}
		return store.Written{}, store.NoDirectory
	}
	if !it.Replace && c.settings.keys.AnyWithdrawn() {
		b, why := c.own(&it.Key.ID)
		if b != nil {
			b.Release()
		}
		it.Replace = why == store.Signature // the entry there is not used any more
	}
	c.signItem(&it)
	return c.store.Put(it)
}

func (c *Cache) changedInput(k *key.Key) string {
	for i := range k.Inputs {
		if reason, changed := k.Inputs[i].Changed(); changed {
			return reason
		}
	}
	return ""
}

// signItem makes an item be signed when it is stored, unless it rests on somebody else's
// word: a signature says that a process of the signer's user has made the entry.
func (c *Cache) signItem(it *store.Item) {
	if c.signer == nil || len(it.Words) > 0 {
		return
	}
	of := *it
	it.Sign = func(attributes []byte, created int64) []byte {
		st := trust.Statement{
			ID: of.Key.ID, Kind: of.Key.Kind, Created: created, Cost: of.Cost, Payload: of.Payload, Attributes: attributes,
		}
		s := c.signer.Sign(&st, c.settings.keys.Namespace)
		return s.Append(nil)
	}
}
