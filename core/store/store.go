// Store: an open cache directory, and what it says of itself.

package store

import (
	"io/fs"
	"sync/atomic"
)

// Options says which directory to open and how.
type Options struct {
	Directory string
	// MaxSize, if not nil, becomes the cap of the directory. With Raise it is ignored
	// if it is lower than the cap that the directory has.
	MaxSize *int64
	Raise   bool
	// Size, if not nil, is the cap for the puts of this Store only.
	Size     *int64
	Durable  bool // fsync file and folder in every put
	ReadOnly bool
	Trust    Trust
	// LockDir is where lock files go if not into the cache directory itself;
	// NodeLockDir is the same for a directory on a network file system.
	LockDir, NodeLockDir string
	// FileSystem is "local" or "network" if the user has set it, else "" and statfs
	// tells.
	FileSystem string
}

// Store is an open cache directory. Its methods may be called from any
// goroutine.
//
// It keeps no descriptor open, because a host may close every descriptor that it did not
// open (daemons do). And paths still work after the directory was removed, renamed or
// mounted over.
type Store struct {
	root string // resolved
	v1   string // root + "/v1"
	// entries is v1 + "/entries/", the prefix of every entry's path.
	entries string
	options Options
	trust   Trust
	mount   Mount
	config  Config
	dirMode uint32
	mode    uint32 // of files
	refuse  Reason // why every put is refused, None if not
	now     func() int64

	last    atomic.Int64 // the last time stamp given to an entry
	small   atomic.Bool  // the cap is so small that every hit renews the recency
	pending pending
	// cannotTell: this file system or kernel has no RENAME_NOREPLACE.
	cannotTell atomic.Bool
}

// smallCount separates small caps from large ones, by the number of entries that fit.
// Under a small cap every disk hit renews the recency, with a system call of half a
// microsecond: there people test the exact order, and evicting the wrong entry
// hurts. Under a large one an hour's precision costs nothing (ccache renews at each
// hit; Go hourly, citing usage data in golang/go#22990).
const smallCount = 64

// Root returns the directory with every link resolved.
func (s *Store) Root() string { return s.root }

// Mount returns what is known of the file system under the directory.
func (s *Store) Mount() Mount { return s.mount }

// Config returns the directory's settings.
func (s *Store) Config() Config { return s.config }

// Refuses returns why no put can work, None if puts may.
func (s *Store) Refuses() Reason { return s.refuse }

// MaxSize returns the cap that this Store's puts obey, 0 for none.
func (s *Store) MaxSize() int64 {
	if s.options.Size != nil {
		return *s.options.Size
	}
	return s.config.MaxSize
}

// Mode returns the modes of new folders and files.
func (s *Store) Mode() (dir, file fs.FileMode) {
	return fs.FileMode(s.dirMode & 0o777), fs.FileMode(s.mode)
}
