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

// Copy stores an entry that another Store has read, byte for byte, unless a good one is
// there. b belongs to the caller alone, and is the entry in this directory afterwards.
func (s *Store) Copy(b *blob.Blob) (Written, Reason) {
	whole := b.Buffer()
	payload := len(b.Data())
	a, ok := parseAttributes(whole[payload:len(whole)-footerSize], true)
	if !ok {
		return Written{}, Malformed
	}
	created, cost := b.Created()
	w, why := s.Put(Item{
		Key:     &key.Key{ID: key.ID(b.ID()), Name: b.Name(), Kind: b.Kind(), Parts: a.parts},
		Payload: whole[:payload], Cost: cost,
		trailer: whole[payload:], created: created,
	})
	if why == None && w.Created != 0 {
		b.SetFile(w.Dev, w.Ino)
	}
	return w, why
}
