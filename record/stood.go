// What stood at the paths that a command wrote to.

package record

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// replaced notes a name that the command looked at and later made, replaced or removed
// itself. What stood there before does not count if it was only looked at: compilers stat
// their output first. What was read counts (overwrite), and so does that there was nothing to
// read. A name that was absent and is absent again counts: a program that finds a lock file waits.
func (t *taker) replaced(n *observe.Name) error {
	if n.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	reads := n.Bits&observe.Ran != 0 || n.Bits&observe.Read != 0 && n.Readers&^t.known.openers != 0 || n.Programs&t.known.adders != 0 && keepsAdders
	if n.Mode != 0 && reads {
		return t.overwrite(n)
	}
	if n.Statted&t.known.removers != 0 {
		t.removed[t.writtenAt(n)] = true
	}
	if n.Mode == 0 && n.Errno == syscall.ENOENT && (reads || t.status.At(ended(n.Path), unix.AT_SYMLINK_NOFOLLOW) == syscall.ENOENT) {
		for _, path := range t.forms(n) {
			t.absent[path] = true
		}
	}
	if !t.run.InPlace || !t.known.unknown || t.known.haveToLook() && n.Programs&^t.known.known == 0 {
		return nil
	}
	// An unknown program may behave differently where its output exists already. The old
	// size and times are gone, so a program that has asked for them must be one that does
	// not use them.
	if n.Mode != 0 && n.Statted&^t.known.blind != 0 {
		return request.Refuse(n.Path, "was looked at and then overwritten")
	}
	for _, path := range t.forms(n) {
		t.stood(path, n.Mode)
	}
	return t.permitted(n, false)
}

// haveToLook reports whether what stands where an output goes can matter only to programs that have looked at it. Shells
// and CUDA's compilers empty a file that stands or make one; a shell that is to leave files alone (noclobber) looks first. Other
// unknown programs may link, rename or open what must not be there, and see how that ends.
func (p *programs) haveToLook() bool {
	return looksFirst && p.all&^(p.known|p.shells|p.starters&p.dateless) == 0
}

// stood notes what stood at a path that the command writes: nothing, or something of a
// type.
func (t *taker) stood(path string, mode uint32) {
	switch {
	case mode == 0:
		t.absent[path] = true
	case !slices.ContainsFunc(t.list.Kinds, func(k Kind) bool { return k.Path == path }):
		t.list.Kinds = append(t.list.Kinds, Kind{Path: path, Mode: mode & unix.S_IFMT})
	}
}

// places notes what stood at the paths that the command wrote without looking first, and how it put
// its outputs there.
func (t *taker) places() {
	t.given()
	t.placements()
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		// gcc adds to the file of -fopt-info. A file that is only opened if it stands counts too.
		if adds := f.How&observe.Added != 0 && keepsAdded; (!t.known.unknown || t.known.haveToLook()) && !adds && f.Asked != observe.Unasked {
			continue
		}
		mode := uint32(0)
		if f.How&observe.Replaced != 0 {
			mode = unix.S_IFREG
		}
		if f.Name == "" || f.How&(observe.Created|observe.Replaced) == 0 || t.private(f.Path) {
			continue
		}
		// A file that the command made and removed might have been there before. Temporary
		// files are made under names that are free.
		if folder, _ := split(f.Path); f.How&observe.Removed != 0 && (isTemporary(t.run, folder) || !keepsScratch) {
			continue
		}
		for _, path := range t.formsOf(f.Name, f.Form&observe.Relative != 0, f.Form&observe.Absolute != 0) {
			t.stood(path, mode)
		}
	}
}

// scratch notes, for each folder in which the command made something and removed it, that it
// may do so. Files that stay need no such note: a replay writes them and finds out by itself.
func (t *taker) scratch() {
	how := uint32(unix.W_OK | unix.X_OK | observe.Effective)
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		folder, _ := split(f.Path)
		if f.How&observe.Removed == 0 || f.Name == "" || !keepsPermits || t.made[folder] ||
			t.private(folder) || isTemporary(t.run, folder) || IsScratch(f.Path) {
			continue
		}
		t.ask(f, how)
	}
}

// ask notes the answer to a question about the folder in which the command has put a file.
func (t *taker) ask(f *observe.File, how uint32) {
	named, _ := split(f.Name)
	if named == t.run.Dir {
		named += "/." // so that it has a relative form
	}
	answer := syscall.Errno(0)
	if how == Given {
		answer = permitted(ended(named), how)
	}
	for _, path := range t.formsOf(named, f.Form&observe.Relative != 0, f.Form&observe.Absolute != 0) {
		if permit := (Permit{path, how, answer}); !slices.Contains(t.list.Permits, permit) {
			t.list.Permits = append(t.list.Permits, permit)
		}
	}
}
