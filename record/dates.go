// When the modification time, or the owner, of a file counts.

package record

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/wildcard"
	"jitcache/observe"
)

// A file's modification time counts for a program that asks for it. Known programs stat
// files only to find them, so for them it does not count, unless dates finds that it may.

// dates finds known programs for which modification times count:
//   - One that has read a time zone has turned a time into a date. That is a file's
//     modification time, for __TIMESTAMP__. (For __DATE__ it asks the clock too.)
//   - clang compares a precompiled header with the modification times, which the header
//     holds, of the files that it was made from. It may do so with any file that it reads and
//     that is not of a kind without times.
//   - What a known program has left may hold the times of what it was made from, unless it is
//     of such a kind.
func (t *taker) dates() {
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		switch {
		case t.isZone(n.Path):
			t.zone |= n.Programs
		case n.Readers&t.known.clang != 0 && mayHoldTimes(n):
			t.known.blind &^= t.known.clang
		}
	}
	if t.known.crates != 0 && t.loadsMacros() && keepsMacros {
		t.known.blind &^= t.known.crates
	}
	if t.leavesTimes() {
		t.known.blind &^= t.known.known &^ t.known.timeless
	}
	t.zone &= t.known.blind &^ t.known.timeless
	t.known.blind &^= t.zone
}

// isZone reports whether a file describes a time zone.
func isZone(path string) bool { return path == localTime || strings.Contains(path, "/zoneinfo/") }

// isZone also recognises the file that TZ names, by a path or in the folder TZDIR
// (tzset(3)), whether it exists or not.
func (t *taker) isZone(path string) bool {
	if isZone(path) {
		return true
	}
	var zone, folder string
	for _, e := range t.run.Env {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "TZ":
			zone = strings.TrimPrefix(value, ":")
		case "TZDIR":
			folder = value
		}
	}
	switch {
	case zone == "":
		return false
	case zone[0] == '/':
		return filepath.Clean(path) == filepath.Clean(zone)
	case folder == "":
		return false
	}
	if !filepath.IsAbs(folder) {
		folder = t.run.Dir + "/" + folder
	}
	return filepath.Clean(path) == filepath.Clean(folder+"/"+zone)
}

// kinds are how files begin that compilers and linkers read or write, and that hold no
// modification times: each was compared with one of the same sources with other times, for the
// programs that are known (kinds_test.go). A precompiled header of clang and a
// Mach-O file hold them. A file without a byte that no text has is text, and holds none that is
// not seen otherwise (a zone).
var kinds = []string{
	"\x7fELF",          // objects, programs, libraries, cubins
	"!<arch>\n",        // libraries
	"BC\xc0\xde",       // code of LLVM
	"gpch",             // precompiled headers of GCC
	"oncg",             // gcov's notes
	"\x1f\x8b",         // modules of gfortran
	"\x50\xed\x55\xba", // what nvcc embeds
	"\x03\x02\x23\x07", // SPIR-V
}

// isTimeless reports whether a file that begins with these bytes is of one of the kinds.
func isTimeless(head []byte) bool {
	for _, k := range kinds {
		if strings.HasPrefix(string(head), k) {
			return true
		}
	}
	if isTimelessCOFF(head) {
		return true
	}
	return !slices.ContainsFunc(head, func(b byte) bool { return b < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(b)) })
}

// isTimelessCOFF reports whether a file is an object of Windows for x86_64 that has no time in its
// header, as gcc and as make it.
func isTimelessCOFF(head []byte) bool {
	return len(head) >= 8 && string(head[:2]) == "\x64\x86" && string(head[4:8]) == "\x00\x00\x00\x00"
}

// leavesTimes reports whether known programs may have left modification times in a file: in one
// that is there and of no kind without times, or in one that is gone, and that a program which is
// not known may have read. What gcc and its like remove is code for the next of them.
func (t *taker) leavesTimes() bool {
	if t.run.Compiler != nil || t.known.known == 0 || !keepsDaters {
		return false
	}
	writers := t.known.clang | t.known.linkers&t.known.drivers
	readers := t.known.all &^ (t.known.known | t.known.starters | t.known.shells | t.known.crates)
	return slices.ContainsFunc(t.run.Report.Files, func(f observe.File) bool {
		switch {
		case IsScratch(f.Path): // Python's
			return false
		case f.How&observe.Removed != 0:
			return writers != 0 && readers != 0
		}
		return !isTimeless(headOf(f.Path))
	})
}

// mayHoldTimes reports whether a file is not of one of the kinds without times.
func mayHoldTimes(n *observe.Name) bool {
	switch {
	case n.Mode&unix.S_IFMT != unix.S_IFREG, n.Path == loaderCache, lessThanContent(n.Path):
		return false
	case n.Bits&observe.Sent != 0:
		return !isTimeless(n.Content[:min(len(n.Content), headSize)])
	}
	return !isTimeless(headOf(n.Path))
}

// isImported reports whether a file is a source that Python imports or was started with, or
// a compiled .pyc. Python looks for the .pyc of each source that it imports. Any other .py
// is to Python a file like any other.
func (t *taker) isImported(n *observe.Name) bool {
	if t.compilesSources() {
		return false
	}
	if strings.HasSuffix(n.Path, ".pyc") {
		return true
	}
	stem, source := strings.CutSuffix(n.Path, ".py")
	if !source {
		return false
	}
	if t.compiled == nil {
		t.compiled = map[string]bool{}
		for i := range t.run.Report.Names {
			folder, name := split(t.run.Report.Names[i].Path)
			if module, _, ok := strings.Cut(name, "."); ok && strings.Contains(name, ".pyc") && filepath.Base(folder) == compiledByPython {
				above, _ := split(folder)
				t.compiled[above+"/"+module] = true
			}
		}
		for _, p := range t.run.Report.Programs {
			for _, word := range p.Args[min(1, len(p.Args)):] {
				if script, ok := strings.CutSuffix(word, ".py"); ok {
					if !filepath.IsAbs(script) {
						script = t.run.Dir + "/" + script
					}
					t.compiled[script], t.compiled[filepath.Clean(script)] = true, true
				}
			}
		}
	}
	return t.compiled[stem] // by any other name a program has asked for it
}

// isDated reports whether the modification time of a file counts. A program that has
// opened a file may have asked for it, which is not seen (fstat). Shells do not ask for that
// of their scripts, nor the C library for that of libraries and languages. Python compares the times of its
// sources with those in its .pyc files, and runs the same either way; but a script may ask for its own (Asked).
func (t *taker) isDated(n *observe.Name) bool {
	if t.run.Hermetic && showsTimes {
		return false
	}
	asked, blind := n.Statted, t.known.blind
	if n.Bits&observe.Read != 0 && !isLibrary(n.Path) && !wildcard.MatchesAny(n.Path, languages) {
		asked |= n.Programs &^ t.known.shells
	}
	if t.isImported(n) {
		blind |= t.known.python &^ n.Asked
	}
	if t.known.crates != 0 && t.isCrate(n) {
		blind |= t.known.crates
	}
	return keepsDates && asked&t.known.all&^blind != 0
}

// isOwned reports whether the owner of a file counts. stat tells it to everybody; only known
// programs are known to ignore it. A program that opens a file and calls fstat is taken to
// ignore it too: the C library does that whenever a program reads.
func (t *taker) isOwned(n *observe.Name) bool {
	deaf := t.known.blind | t.known.known&^t.known.substituted
	if t.isImported(n) {
		deaf |= t.known.python &^ n.Asked
	}
	return keepsOwners && n.Statted&t.known.all&^deaf != 0
}
