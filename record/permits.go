package record

import (
	"slices"
	"sort"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// What may be done with a file or folder follows from its permissions, from its owner, from
// lists of access, from how it is mounted, and from who asks. None of these is recorded for
// it: the question is, and the answer, and whoever wants the result asks it again.

// permitted returns why something may not be done with a path that ends in a NUL.
func permitted(path []byte, how uint32) syscall.Errno {
	switch how {
	case observe.Attributes:
		return syscall.Errno(attributes(unix.ByteSliceToString(path)))
	case observe.Flags:
		return syscall.Errno(flagsOf(unix.ByteSliceToString(path)))
	}
	flags := 0
	if how&observe.Effective != 0 {
		flags = unix.AT_EACCESS
	}
	errno, _ := unix.Faccessat(unix.AT_FDCWD, unix.ByteSliceToString(path), how&7, flags).(syscall.Errno)
	return errno
}

// permitChange says how the answer is another.
func permitChange(how uint32, was, is syscall.Errno) string {
	switch how {
	case observe.Attributes:
		return "other extended attributes"
	case observe.Flags:
		return "other flags"
	}
	said := func(e syscall.Errno) string {
		if e == 0 {
			return "permitted"
		}
		return e.Error()
	}
	return said(is) + " now, was: " + said(was)
}

// permitted notes what may be done with a name. steady: the command has not changed it
// since, so that the answer must still be the same.
func (t *taker) permitted(n *observe.Name, steady bool) error {
	if !keepsPermits || n.Mode == 0 {
		return nil
	}
	asked := t.questions(n)
	for _, p := range asked {
		if steady && permitted(ended(n.Path), p.How) != p.Errno {
			return request.Refuse(n.Path, "was changed meanwhile")
		}
		for _, path := range t.forms(n) {
			t.list.Permits = append(t.list.Permits, Permit{path, p.How, p.Errno})
		}
	}
	return nil
}

// questions are those that were asked of a name, or that the kernel has asked when
// something was done with it.
func (t *taker) questions(n *observe.Name) []observe.Permit {
	// Compilers ask whether there is a folder for temporary files, and are given one.
	if isTemporary(t.run, n.Path) && n.Programs&^t.known.known == 0 {
		return nil
	}
	asked := slices.Clone(n.Permits)
	if n.Mode&unix.S_IFMT == unix.S_IFDIR && n.Bits&(observe.Read|observe.Listed) != 0 {
		// Of a file it is said by its own entry, or that of the failure.
		asked = append(asked, observe.Permit{How: unix.R_OK | observe.Effective, Errno: n.Errno})
	}
	if n.Bits&observe.Ran != 0 {
		how := uint32(unix.X_OK | observe.Effective)
		asked = append(asked, observe.Permit{How: how, Errno: permitted(ended(n.Path), how)})
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
