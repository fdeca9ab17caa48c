// Reason: why a lookup missed, or why a result was not stored.

package store

// Reason says why a lookup missed or a result was not stored. The numbers are
// part of the C ABI (JITCACHE_REASON_* in jitcache.h) and of the ledger; they
// are never reused.
type Reason int32

// The reasons. The log, the statistics and Python's Cache.last_reason have them as text.
const (
	None         Reason = 0  // a hit, or stored
	Absent       Reason = 1  // no entry under the key
	Truncated    Reason = 2  // the file does not end in a whole footer
	Checksum     Reason = 3  // a checksum of payload, attributes or footer does not match
	ForeignKey   Reason = 4  // the file holds another key's entry
	NewerFormat  Reason = 5  // written by a later format of entries
	Permission   Reason = 6  // the system does not let this user read or write it
	NotRegular   Reason = 7  // not a file but a directory, pipe, socket or device
	WrongOwner   Reason = 8  // by its owner and mode another user may have written it
	Symlink      Reason = 9  // a symbolic link below the cache's root
	Malformed    Reason = 10 // checksums match, lengths or attributes do not parse
	IO           Reason = 11 // the system reported another error
	NoMemory     Reason = 12 // no memory for the payload
	Off          Reason = 13 // JITCACHE=0
	Refresh      Reason = 14 // JITCACHE=refresh: every lookup misses
	Fork         Reason = 15 // no runtime could be started in a forked child
	Unavailable  Reason = 16 // the library cannot be used (Python only)
	TooLarge     Reason = 17 // larger than the cap of the cache
	ReadOnly     Reason = 18 // a cache opened for reading, or a directory that cannot be written
	NoSpace      Reason = 19 // no room or no inodes on the disk, or over quota
	InputChange  Reason = 20 // a file that the key read has changed since
	NoDirectory  Reason = 21 // no usable directory: the cache is in memory only
	Descriptors  Reason = 22 // too many open files
	Panicked     Reason = 23 // the library has failed internally and stopped working
	Unrepeatable Reason = 24 // the compile cannot be repeated, or cannot be observed
	Signature    Reason = 25 // no trusted key has signed it, or a withdrawn key has
	RemoteOff    Reason = 26 // no directory has it, and a remote that may have it has failed and is not asked for a while
	RemoteBudget Reason = 27 // no directory has it, and the time for remotes that do not answer is used up
	reasonEnd    Reason = 28
)

var reasonNames = [reasonEnd]string{
	None: "", Absent: "absent", Truncated: "truncated", Checksum: "checksum", ForeignKey: "foreign key",
	NewerFormat: "newer format", Permission: "permission", NotRegular: "not a regular file",
	WrongOwner: "wrong owner", Symlink: "symlink", Malformed: "malformed", IO: "i/o error",
	NoMemory: "no memory", Off: "off", Refresh: "refresh", Fork: "fork", Unavailable: "unavailable",
	TooLarge: "too large", ReadOnly: "read-only", NoSpace: "no space", InputChange: "input changed",
	NoDirectory: "no directory", Descriptors: "too many open files", Panicked: "internal error",
	Unrepeatable: "not repeatable", Signature: "no trusted signature",
	RemoteOff: "remote off", RemoteBudget: "remote budget spent",
}

// String returns the reason in words, "" for None.
func (r Reason) String() string {
	if r < 0 || r >= reasonEnd {
		return "unknown"
	}
	return reasonNames[r]
}

// Reasons returns every reason but None, in the order of their numbers.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonEnd-1)
	for r := None + 1; r < reasonEnd; r++ {
		all = append(all, r)
	}
	return all
}

// Damaged reports whether the reason says that the file under a key is not a good entry
// and cannot become one: it can only be replaced.
func (r Reason) Damaged() bool {
	switch r {
	case Truncated, Checksum, ForeignKey, Malformed, NotRegular:
		return true
	}
	return false
}

func reasonOfErr(err error) Reason {
	return reasonOf(errno(err))
}
