// Entries that are stored again: copied byte for byte, or with one more signature.

package store

import (
	"jitcache/core/blob"
	"jitcache/core/key"
)

// Copy stores an entry byte for byte, unless a good one is there. Another Store, or Parse,
// has read it. Nobody but the caller uses e; afterwards it is the entry of this directory.
// words are keys on whose word the entry rests from now on, if there are any.
func (b *Batch) Copy(e *blob.Blob, words []byte) (Written, Reason) {
	whole := e.Buffer()
	payload := len(e.Data())
	attrs := whole[payload : len(whole)-footerSize]
	a, ok := parseAttributes(attrs, true)
	if !ok {
		return Written{}, Malformed
	}
	trailer := whole[payload:]
	if len(words) > 0 {
		trailer = withRecord(attrs, whole[len(whole)-footerSize:], tagWords, words)
	}
	created, cost := e.Created()
	it := Item{
		Key:     &key.Key{ID: key.ID(e.ID()), Name: e.Name(), Kind: e.Kind(), Parts: a.parts},
		Payload: whole[:payload], Cost: cost,
		trailer: trailer, created: created,
	}
	w, d, why := b.commitItem(&it)
	b.s.recordInLedger(&it, w, d)
	if why == None && w.Created != 0 {
		e.SetFile(w.Dev, w.Ino)
	}
	return w, why
}

// AddSignature stores an entry that Get has returned again, with one more signature.
// Everything else stays the same, also the time when it was made. TooLarge: it has
// mostSignatures already.
func (s *Store) AddSignature(b *blob.Blob, signature []byte) Reason {
	if len(ReadRecords(b).Signatures) >= mostSignatures {
		return TooLarge
	}
	whole, payload := b.Buffer(), len(b.Data())
	attrs := whole[payload : len(whole)-footerSize]
	a, _ := parseAttributes(attrs, true)
	created, _ := b.Created()
	_, why := s.Put(Item{
		Key:     &key.Key{ID: key.ID(b.ID()), Name: b.Name(), Kind: b.Kind(), Parts: a.parts},
		Payload: whole[:payload], Replace: true,
		trailer: withRecord(attrs, whole[len(whole)-footerSize:], tagSignature, signature), created: created,
	})
	return why
}
