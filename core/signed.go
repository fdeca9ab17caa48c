// Whether a trusted key has signed an entry, and on whose word an entry rests.

package core

import (
	"slices"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Signatures say whose process has stored an entry. They are looked at if the owner of
// the directory does not tell, and if a key was withdrawn.

// Signers returns the keys that the environment, the user and the machine have named.
func (c *Cache) Signers() *trust.Keys { return c.settings.keys }

// Statement returns the statement that signatures on an entry sign, the signatures on it,
// and its records. b is as Store.Get has returned it.
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

// signed reports whether a trusted key has signed an entry.
func (c *Cache) signed(b *blob.Blob) bool {
	st, signatures, _ := Statement(b)
	return c.settings.keys.Accepts(st, signatures)
}

// withdrawn reports whether an entry rests on the word of a withdrawn key.
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

// own returns an entry of the own directory, unless a key that it rests on was withdrawn.
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
// A signed note from a layer is merged with this user's own note, and the merged note
// has no signature. So it lists the keys on whose word it rests (words).

// Somebody takes the place of a key in the words of an entry that was made elsewhere and
// not signed. It is not a key: nobody can trust or withdraw it.
var Somebody trust.Public

// rely remembers on whose word the notes rest that this process writes under b's key from
// now on: on that of the keys that have signed b, and of the words of b. If b has neither,
// it is this user's own, or, if brought says that it is from elsewhere, Somebody's.
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

// passedOn returns the words to add to a copy of b. Without them a copy could look as if
// it had been made here, and be signed.
func passedOn(b *blob.Blob) []byte {
	if _, _, r := Statement(b); !marks || len(r.Signatures)+len(r.Words) > 0 {
		return nil // b itself says that it is from elsewhere
	}
	return Somebody[:]
}

// madeElsewhere reports whether an entry rests on somebody else's word.
func (c *Cache) madeElsewhere(b *blob.Blob) bool {
	_, signatures, r := Statement(b)
	return len(r.Words) > 0 || slices.ContainsFunc(signatures, func(s trust.Signature) bool { return !c.isMine(s.By) })
}

// keysIn splits the words of an entry into keys.
func keysIn(words []byte) (all []trust.Public) {
	for size := len(trust.Public{}); len(words) >= size; words = words[size:] {
		all = append(all, trust.Public(words[:size]))
	}
	return all
}

// relied returns the words of a note: the keys that it rests on, as an entry has them.
func (c *Cache) relied(id *key.ID) (words []byte) {
	c.words.mu.Lock()
	defer c.words.mu.Unlock()
	for _, k := range c.words.of[*id] {
		words = append(words, k[:]...)
	}
	return words
}

// isMine reports whether a key is the one that signs the entries of this process.
func (c *Cache) isMine(k trust.Public) bool { return c.signer != nil && c.signer.Public() == k }
