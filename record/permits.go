// Questions about permissions, and their answers.

package record

import (
	"slices"
	"sort"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// Whether something may be done with a file or folder follows from its permissions, owner,
// access lists and mount, and from who asks. None of these is recorded. The question is
// recorded with its answer, and a lookup asks it again.

// permitted answers the question how about a path that ends in a NUL.
func permitted(path []byte, how uint32) syscall.Errno {
	switch how {
	case observe.Attributes:
		return syscall.Errno(attributes(unix.ByteSliceToString(path)))
	case observe.Flags:
		return syscall.Errno(flagsOf(unix.ByteSliceToString(path)))
	case observe.Mounted:
		return syscall.Errno(mountedAs(unix.ByteSliceToString(path)))
	case Given:
		return syscall.Errno(defaultList(unix.ByteSliceToString(path)))
	}
	flags := 0
	if how&observe.Effective != 0 {
		flags = unix.AT_EACCESS
	}
	errno, _ := unix.Faccessat(unix.AT_FDCWD, unix.ByteSliceToString(path), how&7, flags).(syscall.Errno)
	return errno
}

// permitChange describes another answer to the question how.
func permitChange(how uint32, was, is syscall.Errno) string {
	switch how {
	case observe.Attributes:
		return "extended attributes changed"
	case observe.Flags:
		return "flags changed (chattr)"
	case observe.Mounted:
		return "mounted with other options"
	case Given:
		return "default access list changed"
	}
	said := func(e syscall.Errno) string {
		if e == 0 {
			return "permitted"
		}
		return e.Error()
	}
	return said(is) + " now, was: " + said(was)
}

// permitted notes the questions about a name and their answers. steady says that the
// command itself has not changed it, so that the answers must still be the same.
func (t *taker) permitted(n *observe.Name, steady bool) error {
	if !keepsPermits || n.Mode == 0 {
		return nil
	}
	asked := t.questions(n)
	for _, p := range asked {
		if steady && permitted(ended(n.Path), p.How) != p.Errno {
			return request.Refuse(n.Path, "changed during the run")
		}
		for _, path := range t.forms(n) {
			t.list.Permits = append(t.list.Permits, Permit{path, p.How, p.Errno})
		}
	}
	return nil
}

// questions returns the questions that a program asked about a name, and those that the
// kernel had to answer to do what the program did with it.
func (t *taker) questions(n *observe.Name) []observe.Permit {
	// Compilers ask whether the folder for temporary files can be used. We give them one.
	if isTemporary(t.run, n.Path) && n.Programs&^t.known.known == 0 {
		return nil
	}
	asked := slices.Clone(n.Permits)
	if n.Mode&unix.S_IFMT == unix.S_IFDIR && n.Bits&(observe.Read|observe.Listed) != 0 {
		// For a file its entry says so, or its failure.
		asked = append(asked, observe.Permit{How: unix.R_OK | observe.Effective, Errno: n.Errno})
	}
	if n.Bits&observe.Ran != 0 {
		how := uint32(unix.X_OK | observe.Effective)
		errno := permitted(ended(n.Path), how)
		if t.run.Compiler.began(n.Path) {
			how |= AtStart // it was run then, and its loader too
		}
		asked = append(asked, observe.Permit{How: how, Errno: errno})
	}
	return asked
}

func sortPermits(all []Permit) {
	sort.Slice(all, func(i, j int) bool {
		if all[i].Path != all[j].Path {
			return all[i].Path < all[j].Path
		}
		return all[i].How < all[j].How
	})
}
