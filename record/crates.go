// Crates of Rust: the folders in which rustc finds them, and their times.

package record

import (
	"slices"
	"strings"

	"jitcache/observe"
)

// cargo tells rustc by -L dependency=FOLDER where the crates are that the named crates need. Each of these says by a
// hash of their content which ones they were compiled with, and rustc uses no other. It lists the folder to know the
// names of their files, and reads all that may be meant. So of the folder's names those count that it reads, and it does not
// matter what else cargo puts there meanwhile. A folder that is named in another way may hold crates that no hash chooses.
//
// A crate of macros is loaded into rustc, and may ask for the time of any file, but for those of crates: they are new
// with each build.

// readsCrates returns the bit of a program that is rustc, or what becomes its linker; 0 for any other.
func (p *programs) readsCrates(program *observe.Program) uint64 {
	if name := plainName(program.Path); name == "rustc" || name == "ld.lld" {
		return p.dateless &^ bitOf(63)
	}
	return 0
}

// holdsCrates reports whether a folder was listed only to find crates by their hashes. listers are the programs
// that may have listed it.
func (t *taker) holdsCrates(folder string, listers uint64) bool {
	finders := uint64(0)
	for i := range t.run.Report.Programs {
		if p := &t.run.Report.Programs[i]; bitOf(p.ID)&t.known.crates != 0 && t.findsCratesIn(folder, p.Args) {
			finders |= bitOf(p.ID)
		}
	}
	return keepsCrates && finders != 0 && listers&^(finders|t.known.known) == 0
}

// findsCratesIn reports whether the words of rustc name a folder only as one of dependencies.
func (t *taker) findsCratesIn(folder string, words []string) (finds bool) {
	for i, w := range words {
		path, is := strings.CutPrefix(w, "-L")
		switch {
		case strings.HasPrefix(w, "@"): // a file of more words
			return false
		case len(w) > 2 && w[0] == '-' && strings.IndexByte("ghOvV", w[1]) >= 0: // several flags, of which the last may be -L
			return false
		case is && path == "" && i+1 < len(words):
			path = words[i+1]
		case !is:
			continue
		}
		kind, rest, ok := strings.Cut(path, "=")
		if ok {
			path = rest
		}
		if t.full(path) == folder && kind != "dependency" {
			return false
		}
		finds = finds || t.full(path) == folder
	}
	return finds
}

// isCrate reports whether rustc has read a file as a crate.
func (t *taker) isCrate(n *observe.Name) bool {
	folder, name := split(n.Path)
	return n.Mode != 0 && n.Readers&t.known.crates != 0 && strings.HasPrefix(name, "lib") && t.holdsCrates(folder, 0)
}

// loadsMacros reports whether rustc has loaded crates of macros.
func (t *taker) loadsMacros() bool {
	return slices.ContainsFunc(t.run.Report.Programs, func(p observe.Program) bool {
		return plainName(p.Path) == "rustc" && slices.ContainsFunc(p.Args, func(w string) bool { return strings.HasSuffix(w, ".so") })
	}) || slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool { return strings.HasSuffix(n.Path, ".so") && t.isCrate(&n) })
}
