package key

import (
	"syscall"
	"time"
)

// Stamp is what stat said of a file, and when. It tells a later look whether
// the file can have changed without reading it.
type Stamp struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	// Read is the time just before the file was opened, nanoseconds since 1970.
	Read int64
}

// A file's time stamps prove nothing about edits that follow its last change
// within one tick of the file system's clock. Linux takes that clock from the
// timer interrupt, 1 to 10 ms apart (3 distinct stamps in 300 writes were
// measured); file systems without nanoseconds, and NFS servers, count whole
// seconds or two.
const (
	fineTick   = int64(50 * time.Millisecond)
	coarseTick = int64(2 * time.Second)
)

// StampOf returns the stamp of a file that is read at the time read.
func StampOf(st *syscall.Stat_t, read int64) Stamp {
	return Stamp{
		Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Read: read,
	}
}

// Same reports whether both are of one file that has not changed in between, as
// far as stamps can tell: see Fresh.
func (s *Stamp) Same(other *Stamp) bool {
	return s.Dev == other.Dev && s.Ino == other.Ino && s.Size == other.Size &&
		s.Mtime == other.Mtime && s.Ctime == other.Ctime
}

// Fresh reports whether the file had changed so shortly before it was read that
// a later change may have left the same time stamps.
func (s *Stamp) Fresh() bool {
	tick := fineTick
	if s.Mtime%int64(time.Second) == 0 && s.Ctime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return max(s.Mtime, s.Ctime) > s.Read-tick
}
