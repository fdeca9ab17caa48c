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
