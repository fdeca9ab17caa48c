// Package store keeps entries on disk: one entry, one file.
//
//	s, err := store.Open(store.Options{Directory: dir})
//	b, why := s.Get(&id)      // verified bytes, or nil and the reason
//	written, why := s.Put(store.Item{Key: k, Payload: code})
//
// docs/format.md specifies every byte. All of it serves one invariant: a Get
// returns exactly the bytes of one Put under that key, or a [Reason]. It holds
// because a file appears in its place by one rename, is never changed there, and
// carries checksums of everything it holds. So there is no index to repair, and
// nothing that a crash or a full disk leaves behind is taken for an entry.
//
// Everything else in the directory is advice: the ledger (sizes and counters), the
// names (for Explain), lock files. Losing any of it costs accuracy, never an
// entry and never the caller's result. No function of this package fails a
// caller because a file is bad; only wrong use is an error.
//
// Safe: many threads, many processes, several users who agreed to share, copies
// of the directory made with cp, tar or rsync. On a network file system entries
// are as safe as the file system's rename; recency, sizes and counters are then
// approximate, and lock files are kept on the node (see Store.LockDir).
//
// Not safe: another program that writes into entry files in place.
package store
