package core

import (
	"slices"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Signatures say whose process has stored an entry. They are asked for where the owner
// of a directory does not say it, and by who has withdrawn a key.

// Signers returns the keys that environment, user and machine have named.
func (c *Cache) Signers() *trust.Keys { return c.settings.keys }

// Statement returns what signatures on an entry are of, and those that are on it. b is
// as Store.Get has returned it.
func Statement(b *blob.Blob) (*trust.Statement, []trust.Signature, store.Records) {
	r := store.ReadRecords(b)
	st := &trust.Statement{ID: key.ID(b.ID()), Kind: b.Kind(), Payload: b.Data(), Attributes: r.Plain}
	st.Created, st.Cost = b.Created()
	var all []trust.Signature
	for _, data := range r.Signatures {
		if s, ok := trust.ParseSignature(data); ok {
			all = append(all, s)
		}
	}
	return st, all, r
}

// signed reports whether somebody who is trusted has signed an entry.
func (c *Cache) signed(b *blob.Blob) bool {
	st, signatures, _ := Statement(b)
	return c.settings.keys.Accepts(st, signatures)
}

// withdrawn reports whether an entry rests on the word of somebody whose key was
// withdrawn.
func (c *Cache) withdrawn(b *blob.Blob) bool {
	keys := c.settings.keys
	if !keys.AnyWithdrawn() {
		return false
	}
	st, signatures, r := Statement(b)
	if slices.ContainsFunc(keysIn(r.Words), keys.Withdraws) {
		return true
	}
	for i := range signatures {
		if keys.Rejects(signatures[i].By, st.Created) {
			return !keys.Accepts(st, signatures)
		}
	}
	return false
}

// own returns an entry of the directory, as long as nobody has withdrawn the key that it
// rests on.
func (c *Cache) own(id *key.ID) (*blob.Blob, store.Reason) {
	b, why := c.store.Get(id)
	return c.unlessWithdrawn(b, why)
}

func (c *Cache) unlessWithdrawn(b *blob.Blob, why store.Reason) (*blob.Blob, store.Reason) {
	if why == store.None && c.withdrawn(b) {
		b.Release()
		return nil, store.Signature
	}
	return b, why
}

// ---- notes
//
// What was noted in a layer that rests on signatures is merged with own notes, and then
// has no signature. So the own note has the keys of those on whose word it rests.

// Somebody stands in the place of the key of those who have stored something elsewhere
// and have not signed it. It is no key: nobody trusts or withdraws it.
var Somebody trust.Public

// rely remembers that what this process notes under a key from now on rests on the word
// of those who have signed b, or on whose word b rests. A note of this directory without
// either is this user's own; one that was brought is somebody's.
func (c *Cache) rely(b *blob.Blob, brought bool) {
	st, signatures, r := Statement(b)
	words := keysIn(r.Words)
	mine := !brought && len(r.Signatures) == 0
	if len(signatures) > 0 {
		message := st.Message(c.settings.keys.Namespace)
		for i := range signatures {
			switch s := &signatures[i]; {
			case c.isMine(s.By) && s.Holds(message):
				mine = true
			case c.settings.keys.Trusts(s.By) && s.Holds(message):
				words = append(words, s.By)
			}
		}
	}
	switch {
	case len(words) > 0:
	case mine || !marks:
		return
	default:
		words = []trust.Public{Somebody}
	}
	c.words.mu.Lock()
	defer c.words.mu.Unlock()
	if c.words.of == nil {
		c.words.of = map[key.ID][]trust.Public{}
	}
	known := c.words.of[st.ID]
	for _, k := range words {
		if !slices.Contains(known, k) {
			known = append(known, k)
		}
	}
	c.words.of[st.ID] = known
}

// passedOn returns the words that a copy has beside what it is a copy of: it must not
// look as if it had been made here, and be signed.
func passedOn(b *blob.Blob) []byte {
	if _, _, r := Statement(b); !marks || len(r.Signatures)+len(r.Words) > 0 {
		return nil // it says so itself
	}
	return Somebody[:]
}

// madeElsewhere reports whether an entry rests on somebody else's word.
func (c *Cache) madeElsewhere(b *blob.Blob) bool {
	_, signatures, r := Statement(b)
	return len(r.Words) > 0 || slices.ContainsFunc(signatures, func(s trust.Signature) bool { return !c.isMine(s.By) })
}

// keysIn returns the keys that an entry's words are.
func keysIn(words []byte) (all []trust.Public) {
	for size := len(trust.Public{}); len(words) >= size; words = words[size:] {
		all = append(all, trust.Public(words[:size]))
	}
	return all
}

// relied returns the keys on which a note rests, as an entry has them.
func (c *Cache) relied(id *key.ID) (words []byte) {
	c.words.mu.Lock()
	defer c.words.mu.Unlock()
	for _, k := range c.words.of[*id] {
		words = append(words, k[:]...)
	}
	return words
}
