// Files of equal content, and folders, of which it counts whether they are one.

package record

import (
	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
)

// Files of equal content are twins. Whether two names lead to one file decides what #pragma
// once and #import leave out, and compilers look at more than the content: clang at device
// and inode, gcc at the modification time. NVRTC asks for device and inode, and does not
// open the second name. So it counts which twins are one file, and which have one time, for
// files that a compiler has read or an unknown program has looked at. Shells and Python do
// not care about that for what they run and import, but compare files when they are told to
// (-ef, samefile).
//
// Folders are compared in the same way: compilers leave out an include folder that is another
// one of the command line, and a shell, or gcc -g, believes PWD if it is the current folder.
// Nothing is looked for in a folder that is left out. So it counts which of the folders that
// were looked at are one.

// compares reports whether a program may have asked whether a file is the same as another.
func (t *taker) compares(n *observe.Name) bool {
	scripts := t.known.shells
	if scripts |= t.known.python & n.Asked; !t.isImported(n) {
		scripts |= t.known.python
	}
	return n.Bits&observe.Read != 0 && n.Programs&t.known.compilers != 0 || n.Programs&t.known.strangers != 0 || n.Statted&scripts != 0
}

// twins marks them.
func (t *taker) twins() {
	byContent := map[key.Digest]int{}
	for i := range t.list.Files {
		f := &t.list.Files[i]
		if !t.included[f.Path] || !keepsTwins {
			continue
		}
		first, known := byContent[f.Digest]
		if !known {
			byContent[f.Digest] = i
			continue
		}
		f.Flags |= Twin
		t.list.Files[first].Flags |= Twin
	}
}

// isCompared reports whether a program may have asked whether a folder is the same as another.
func (t *taker) isCompared(n *observe.Name) bool {
	return keepsOneFolder && (n.Statted&^(t.known.python&^n.Asked)|n.Readers)&t.known.all != 0
}

// compareFolder notes that it counts which other folders are the same one. It refuses a path that
// leads to another folder by now.
func (t *taker) compareFolder(n *observe.Name, f *Folder) error {
	if errno := t.status.At(ended(n.Path), 0); errno != 0 || t.status.Stamp.Ino != n.Stamp.Ino || t.status.Stamp.Dev != n.Stamp.Dev {
		return request.Refuse(n.Path, "changed during the run")
	}
	f.Flags |= OneWith
	f.Stamp.Dev, f.Stamp.Ino = n.Stamp.Dev, n.Stamp.Ino
	return nil
}

// inode identifies a file or folder.
type inode struct{ dev, ino uint64 }

// sameFolders returns, for each folder with OneWith, the index of the first that is the same
// folder, -1 for the others. now has what they are now, nil if that is what the list says.
func (l *List) sameFolders(now map[int]inode) []int {
	same, firsts := make([]int, len(l.Folders)), map[inode]int{}
	for i := range l.Folders {
		f := &l.Folders[i]
		if same[i] = -1; f.Flags&OneWith == 0 {
			continue
		}
		id, moved := now[i]
		if !moved {
			id = inode{f.Stamp.Dev, f.Stamp.Ino}
		}
		first, known := firsts[id]
		if !known {
			first = i
			firsts[id] = i
		}
		same[i] = first
	}
	return same
}

// foldersAsOne reports whether those folders are one folder that were one.
func (c *checker) foldersAsOne() bool {
	if len(c.moved) == 0 {
		return true
	}
	was, is := c.list.sameFolders(nil), c.list.sameFolders(c.moved)
	for i := range was {
		if was[i] != is[i] {
			return c.changed(c.list.Folders[i].Path, "became the same folder as another, or is no longer")
		}
	}
	return true
}

// kin names, for a file with twins, the first of them that is the same file, and the first
// that has the same time.
type kin struct{ index, file, time int }

// kinship returns the kin of each file that has a twin. stampOf gives the files' stamps.
func (l *List) kinship(stampOf func(i int) *Stamp) []kin {
	var all []kin
	firsts := map[key.Digest][]int{}
	for i := range l.Files {
		f := &l.Files[i]
		if f.Flags&Twin == 0 {
			continue
		}
		mine, k := stampOf(i), kin{i, i, i}
		for _, other := range firsts[f.Digest] {
			s := stampOf(other)
			if k.file == i && s.Ino == mine.Ino && s.Dev == mine.Dev {
				k.file = other
			}
			if k.time == i && s.Mtime == mine.Mtime {
				k.time = other
			}
		}
		firsts[f.Digest] = append(firsts[f.Digest], i)
		all = append(all, k)
	}
	return all
}

// related reports whether twins are still the same file, or of the same time, as they were.
// Files that stat has found unchanged have the stamps of the list.
func (c *checker) related() bool {
	var now map[int]*Stamp
	for i := range c.doubtful {
		if d := &c.doubtful[i]; c.list.Files[d.index].Flags&Twin != 0 {
			if now == nil {
				now = map[int]*Stamp{}
			}
			now[d.index] = &d.now
		}
	}
	if now == nil {
		return true
	}
	listed := func(i int) *Stamp { return &c.list.Files[i].Stamp }
	was := c.list.kinship(listed)
	is := c.list.kinship(func(i int) *Stamp {
		if s := now[i]; s != nil {
			return s
		}
		return listed(i)
	})
	for i := range was {
		if was[i] != is[i] {
			return c.changed(c.list.Files[was[i].index].Path, "it and an identical file are no longer hard links, or became so, or their times differ")
		}
	}
	return true
}
