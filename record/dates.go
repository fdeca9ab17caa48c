package record

import (
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// When a file was modified counts for a program that asks for it, unless that is
// known to find files so and no more. Two things show that a compiler has used it.

// dates looks for them: a known program that has read where the time zone is has
// made a date of a time. That is when a file was modified, for __TIMESTAMP__; for
// __DATE__ it has asked for the time too. And a precompiled header of clang has in
// it when the files were modified that it was made from, and is compared with them.
func (t *taker) dates() {
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		switch {
		case isZone(n.Path):
			t.zone |= n.Programs
		case n.Bits&observe.Read != 0 && n.Programs&t.known.clang != 0 && isPrecompiled(n):
			t.known.blind &^= t.known.clang
		}
	}
	t.zone &= t.known.blind &^ t.known.timeless
	t.known.blind &^= t.zone
}

// isZone reports whether a file says what time it is somewhere.
func isZone(path string) bool { return path == localTime || strings.Contains(path, "/zoneinfo/") }

func isPrecompiled(n *observe.Name) bool {
	if n.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	head := n.Content
	if n.Bits&observe.Sent == 0 {
		head = headOf(n.Path)
	}
	return strings.HasPrefix(string(head), "CPCH")
}

// isDated reports whether the modification time of a file counts: who has opened a
// file may ask for it too, which is not seen. Shells read their scripts, the loader
// reads libraries, and neither asks; Python compares its sources with what it has
// made of them, and runs the same either way.
func (t *taker) isDated(n *observe.Name) bool {
	asked, blind := n.Statted, t.known.blind
	if n.Bits&observe.Read != 0 && !isLibrary(n.Path) {
		asked |= n.Programs &^ t.known.shells
	}
	if strings.HasSuffix(n.Path, ".py") || strings.HasSuffix(n.Path, ".pyc") {
		blind |= t.known.python
	}
	return keepsDates && asked&t.known.all&^blind != 0
}
