// Misses and refusals whose reason the caller knows: counted and logged.

package core

import (
	"jitcache/core/key"
	"jitcache/core/store"
)

// MissedBecause counts and logs a miss whose reason the caller knows. k is the
// request's key. why says what has changed since the result was made, "" if no result
// was known. It returns the reason as the log has it.
func (c *Cache) MissedBecause(k *key.Key, kind, why string) string {
	reason := store.Absent
	if resting := c.resting(); resting != store.None {
		reason = resting
		if why != "" {
			why += "; " + reason.String()
		}
	}
	if why == "" {
		why = reason.String()
	}
	if c.store != nil {
		c.store.Count([]byte(kind), store.MissCounter(reason), 1)
	}
	if c.log.wants(Miss) {
		c.log.line(Miss, "%s: %s", label(k.Name, k.ID), why)
	}
	return why
}

// NotStored counts and logs a result that was returned and not stored, for a reason
// that the caller knows. what is the text of the reason.
func (c *Cache) NotStored(k *key.Key, kind string, why store.Reason, what string) {
	if c.store != nil {
		c.store.Count([]byte(kind), store.Compiles, 1)
		c.store.CountRefused([]byte(kind), why)
	}
	c.noteRefusal(k.Name, why, what)
	c.log.line(Info, "not stored: %s: %s", label(k.Name, k.ID), what)
}

// NotUsed logs why a result that was found is not used.
func (c *Cache) NotUsed(k *key.Key, why string) {
	c.log.line(Info, "not used: %s: %s", label(k.Name, k.ID), why)
}

// NotObserved logs why a command is run without being observed. Nothing counts it.
func (c *Cache) NotObserved(k *key.Key, why string) {
	c.log.line(Info, "not observed: %s: %s", label(k.Name, k.ID), why)
}
