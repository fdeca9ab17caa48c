// Directories that are only read, and entries that come as bytes.

package store

import (
	"jitcache/core/blob"
	"jitcache/core/key"
)

// OpenLayer opens a directory of entries that is only read: nothing in it changes, not
// even a time stamp. It must belong to this user, to root or to a user of own.Trust, and
// nobody else may write it. own are the options of the cache's own directory; consent to
// share that one is not consent to share a layer.
func OpenLayer(dir string, own *Options) (*Store, error) {
	trust := Trust{Users: own.Trust.Users, layer: true}
	return Open(Options{Directory: dir, ReadOnly: true, Trust: trust, FileSystem: own.FileSystem})
}

// LargestOfAnybody bounds the size of files that are read from a layer that anybody may
// write, because anybody may have chosen the size.
const LargestOfAnybody = 1 << 30

// OpenAnybodys opens a layer that OpenLayer refuses because of who may write it. An entry
// in it must not be used before a signature on it was verified.
func OpenAnybodys(dir string, own *Options) (*Store, error) {
	return Open(Options{Directory: dir, ReadOnly: true, Trust: Trust{layer: true, anybody: true}, FileSystem: own.FileSystem})
}

// Parse reads the entry of a key from b, whose buffer has the bytes of an entry's file. It
// checks that it is an entry of this key, that every byte is as it was written, and that a
// key can have its kind and its name. Then b is a blob as Get returns it.
func Parse(b *blob.Blob, id *key.ID) Reason {
	f, a, why := verifyEntry(b.Buffer(), id)
	if why == None && (key.CheckKind(string(f.kind)) != nil || a.nameLen > key.MaxName && boundsWho) {
		why = Malformed
	}
	if why == None {
		fill(b, &f, a)
	}
	return why
}

// Copy is Batch.Copy for one entry.
func (s *Store) Copy(b *blob.Blob, words []byte) (Written, Reason) {
	batch := s.Batch()
	defer batch.Close()
	return batch.Copy(b, words)
}
