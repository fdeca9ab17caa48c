// Whose directories and entry files are used, by their owners and modes.

package store

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Trust says whose files a cache may use. The rule holds for the root and for each
// entry: it belongs to this user or to root, and nobody else may write it; or it
// belongs to a named user; or the users of a shared directory have agreed.
//
// An entry is code that this process will run. A wrong answer here would let one user
// run code as another.
type Trust struct {
	Users  []uint32 // named owners, JITCACHE_TRUST
	Shared bool     // consent to a directory that others write, JITCACHE_SHARED

	euid    uint32
	gid     uint32 // of the root, if shared
	anybody bool   // any owner and any mode will do
	layer   bool   // the directory is a layer, for which Shared is no consent
}

// Refused is the error of Open for a directory that is not used.
type Refused struct {
	Reason Reason
	Path   string
	Rule   string // what is wrong
	Mend   string // a command that would mend it, "" if there is none
}

func (r *Refused) Error() string {
	return fmt.Sprintf("cache directory %s is not used: %s", r.Path, r.Why())
}

// Why returns what is wrong, and how to mend it.
func (r *Refused) Why() string {
	if r.Mend == "" {
		return r.Rule
	}
	return r.Rule + "; to use it: " + r.Mend
}

const (
	groupWrites = syscall.S_IWGRP
	otherWrites = syscall.S_IWOTH
)

func (t *Trust) knows(uid uint32) bool {
	return uid == t.euid || uid == 0 || slices.Contains(t.Users, uid)
}

// checkRoot decides about the resolved root of a cache.
func (t *Trust) checkRoot(path string, st *syscall.Stat_t) *Refused {
	no := func(rule, mend string) *Refused { return &Refused{WrongOwner, path, rule, mend} }
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return &Refused{NotRegular, path, "it is not a directory", ""}
	}
	if !checkOwners || t.anybody {
		return nil
	}
	if st.Mode&otherWrites != 0 {
		who := "o"
		if st.Mode&groupWrites != 0 && !t.Shared {
			who = "go"
		}
		return no(fmt.Sprintf("anybody may write it (mode %04o)", st.Mode&0o7777), t.chmod(who, path, st))
	}
	if t.Shared {
		t.gid = st.Gid
		return nil
	}
	consent := "set JITCACHE_SHARED=1 if you trust everybody who may write it, or "
	if t.layer {
		consent = "" // JITCACHE_SHARED is about the cache's own directory
	}
	if !t.knows(st.Uid) {
		return no(fmt.Sprintf("it belongs to user %d", st.Uid), fmt.Sprintf("%sJITCACHE_TRUST=%d", consent, st.Uid))
	}
	if st.Mode&groupWrites != 0 {
		return no(fmt.Sprintf("group %d may write it (mode %04o)", st.Gid, st.Mode&0o7777), consent+t.chmod("g", path, st))
	}
	return nil
}

// chmod returns the command that takes the right to write from who, or what to do if
// this user may not run it.
func (t *Trust) chmod(who, path string, st *syscall.Stat_t) string {
	if st.Uid != t.euid && t.euid != 0 {
		return "have its owner take that right away, or name a directory of your own with JITCACHE_DIR"
	}
	return "chmod " + who + "-w " + shellWord(path)
}

// shellWord quotes a path for a shell, if it needs to be.
func shellWord(path string) string {
	for _, c := range path {
		if !strings.ContainsRune("/._-+,:@%", c) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
	}
	return path
}

// checkEntry decides about an open entry file. Every hit calls it.
func (t *Trust) checkEntry(st *syscall.Stat_t) Reason {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return NotRegular
	}
	if !checkOwners || t.anybody {
		if t.anybody && st.Size > LargestOfAnybody {
			return TooLarge
		}
		return None
	}
	if st.Mode&otherWrites != 0 {
		return WrongOwner
	}
	if t.Shared {
		// The users who may write the directory are trusted, and no files that
		// others have put there.
		if st.Gid != t.gid && !t.knows(st.Uid) {
			return WrongOwner
		}
		return None
	}
	if st.Mode&groupWrites != 0 || !t.knows(st.Uid) {
		return WrongOwner
	}
	return None
}
