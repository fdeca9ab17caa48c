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
// says: if it is one, of that key, and every byte is as it was written. Its kind and its
// name are such as a key can have.
func Parse(b *blob.Blob, id *key.ID) Reason {
	f, a, why := verify(b.Buffer(), id)
	if why == None && (key.CheckKind(string(f.kind)) != nil || a.nameLen > key.MaxName && boundsWho) {
		why = Malformed
	}
	if why == None {
		fill(b, &f, a)
	}
	return why
}

// Copy is Copy of a Batch of one.
func (s *Store) Copy(b *blob.Blob, words []byte) (Written, Reason) {
	batch := s.Batch()
	defer batch.Close()
	return batch.Copy(b, words)
}
