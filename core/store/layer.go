package store

import (
	"jitcache/core/blob"
	"jitcache/core/key"
)

// OpenLayer opens a directory of entries that is only read: nothing in it changes, not
// even a time stamp. It must belong to this user, to root or to a user of own.Trust, and
// nobody else may write it; consent to share a cache's own directory is no consent to
// this. own are the options of that.
func OpenLayer(dir string, own *Options) (*Store, error) {
	trust := Trust{Users: own.Trust.Users, layer: true}
	return Open(Options{Directory: dir, ReadOnly: true, Trust: trust, FileSystem: own.FileSystem})
}

// LargestOfAnybody is how large a file is at most that is read of a layer that anybody
// may write: its size is the choice of whoever has made it.
const LargestOfAnybody = 1 << 30

// OpenAnybodys opens a layer that OpenLayer refuses because of who may write it. What is
// found in it is bytes that are worth nothing before a signature on them was verified.
func OpenAnybodys(dir string, own *Options) (*Store, error) {
	return Open(Options{Directory: dir, ReadOnly: true, Trust: Trust{layer: true, anybody: true}, FileSystem: own.FileSystem})
}

// Parse says of b, whose buffer holds what is said to be the file of an entry, what it
// says: if it is one, of that key, and every byte is as it was written. Its kind is one
// that a key can have.
func Parse(b *blob.Blob, id *key.ID) Reason {
	f, a, why := verify(b.Buffer(), id)
	if why == None && key.CheckKind(string(f.kind)) != nil {
		why = Malformed
	}
	if why == None {
		fill(b, &f, a)
	}
	return why
}

// Copy stores an entry that another Store has read, or Parse, byte for byte, unless a good one is
// there. b belongs to the caller alone, and is the entry in this directory afterwards.
// words, if there are any, are the keys of those on whose word it rests from now on.
func (s *Store) Copy(b *blob.Blob, words []byte) (Written, Reason) {
	whole := b.Buffer()
	payload := len(b.Data())
	attrs := whole[payload : len(whole)-footerSize]
	a, ok := parseAttributes(attrs, true)
	if !ok {
		return Written{}, Malformed
	}
	trailer := whole[payload:]
	if len(words) > 0 {
		trailer = withRecord(attrs, whole[len(whole)-footerSize:], tagWords, words)
	}
	created, cost := b.Created()
	w, why := s.Put(Item{
		Key:     &key.Key{ID: key.ID(b.ID()), Name: b.Name(), Kind: b.Kind(), Parts: a.parts},
		Payload: whole[:payload], Cost: cost,
		trailer: trailer, created: created,
	})
	if why == None && w.Created != 0 {
		b.SetFile(w.Dev, w.Ino)
	}
	return w, why
}
