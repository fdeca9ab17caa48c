package record

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// replaced: the command has made, replaced or removed it itself, later. What stood
// there before is of no account if it was only looked at: compilers stat their
// output first. What was read is another matter, and so is what was absent, and is
// again: who finds a lock waits.
func (t *taker) replaced(n *observe.Name) error {
	if n.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	if n.Mode != 0 && n.Bits&(observe.Read|observe.Ran) != 0 {
		return request.Refuse(n.Path, "is read, and then written")
	}
	if n.Mode == 0 && n.Errno == syscall.ENOENT && t.status.At(ended(n.Path), unix.AT_SYMLINK_NOFOLLOW) == syscall.ENOENT {
		for _, path := range t.forms(n) {
			t.absent[path] = true
		}
	}
	if !t.run.InPlace || !t.known.unknown {
		return nil
	}
	// A program that may do anything may do something else where its output stands. Its
	// size and times are gone: who has asked for them must be known not to go by those.
	if n.Mode != 0 && n.Statted&^t.known.blind != 0 {
		return request.Refuse(n.Path, "is looked at, and then written")
	}
	for _, path := range t.forms(n) {
		t.stood(path, n.Mode)
	}
	return t.permitted(n, false)
}

// stood notes what stood where the command writes: nothing, or a file of a type.
func (t *taker) stood(path string, mode uint32) {
	switch {
	case mode == 0:
		t.absent[path] = true
	case !slices.ContainsFunc(t.list.Kinds, func(k Kind) bool { return k.Path == path }):
		t.list.Kinds = append(t.list.Kinds, Kind{path, mode & unix.S_IFMT})
	}
}

// places notes what stood where the command has written without looking first, and that it
// may make and remove files where it has.
func (t *taker) places() {
	t.scratch()
	if !t.run.InPlace || !t.known.unknown {
		return
	}
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		mode := uint32(0)
		if f.How&observe.Replaced != 0 {
			mode = unix.S_IFREG
		}
		if f.Name == "" || f.How&(observe.Created|observe.Replaced) == 0 || t.private(f.Path) {
			continue
		}
		// What it has made and removed it may have found there. That names of temporary
		// files are free follows from how they are made.
		if folder, _ := split(f.Path); f.How&observe.Removed != 0 && (isTemporary(t.run, folder) || !keepsScratch) {
			continue
		}
		for _, path := range t.formsOf(f.Name, f.Form&observe.Relative != 0, f.Form&observe.Absolute != 0) {
			t.stood(path, mode)
		}
	}
}

// scratch notes of folders that the command may put files there, and remove them: of those in
// which it has made something that is gone. What it leaves is put there by a replay, which
// sees for itself.
func (t *taker) scratch() {
	how := uint32(unix.W_OK | unix.X_OK | observe.Effective)
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		folder, _ := split(f.Path)
		if f.How&observe.Removed == 0 || f.Name == "" || !keepsPermits || t.made[folder] ||
			t.private(folder) || isTemporary(t.run, folder) || IsScratch(f.Path) {
			continue
		}
		named, _ := split(f.Name)
		if named == t.run.Dir {
			named += "/." // which has a relative form
		}
		for _, path := range t.formsOf(named, f.Form&observe.Relative != 0, f.Form&observe.Absolute != 0) {
			if permit := (Permit{path, how, 0}); !slices.Contains(t.list.Permits, permit) {
				t.list.Permits = append(t.list.Permits, permit)
			}
		}
	}
}
