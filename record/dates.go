package record

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// A file's modification time counts for a program that asks for it. Known programs stat
// files only to find them, so for them it does not count, with two exceptions, which dates
// detects.

// dates finds known programs for which modification times count:
//   - One that has read a time zone has turned a time into a date. That is a file's
//     modification time, for __TIMESTAMP__. (For __DATE__ it asks the clock too.)
//   - clang compares a precompiled header with the modification times, which the header
//     holds, of the files that it was made from.
//   - One has written a file of a kind that holds the modification times of what it was made
//     from.
func (t *taker) dates() {
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		switch {
		case t.isZone(n.Path):
			t.zone |= n.Programs
		case n.Bits&observe.Read != 0 && n.Programs&t.known.clang != 0 && isPrecompiled(n):
			t.known.blind &^= t.known.clang
		}
	}
	t.known.blind &^= t.daters()
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

// precompiled begins a header or a module that clang has made, darwin a file for Apple's systems,
// in which a linker notes the times of the objects with debugging information.
const precompiled, darwin = "CPCH", "\xcf\xfa\xed\xfe"

// daters returns the programs whose output holds modification times.
func (t *taker) daters() (mask uint64) {
	if t.known.clang|t.known.linkers == 0 || !keepsDaters {
		return 0
	}
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		if f.How&observe.Removed != 0 {
			continue
		}
		switch head := string(headOf(f.Path)); {
		case strings.HasPrefix(head, precompiled):
			mask |= t.known.clang
		case strings.HasPrefix(head, darwin):
			mask |= t.known.linkers
		}
	}
	return mask
}

func isPrecompiled(n *observe.Name) bool {
	if n.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	head := n.Content
	if n.Bits&observe.Sent == 0 {
		head = headOf(n.Path)
	}
	return strings.HasPrefix(string(head), precompiled)
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
				t.compiled[filepath.Dir(folder)+"/"+module] = true
			}
		}
		for _, p := range t.run.Report.Programs {
			for _, word := range p.Args[min(1, len(p.Args)):] {
				if script, ok := strings.CutSuffix(word, ".py"); ok {
					if !filepath.IsAbs(script) {
						script = t.run.Dir + "/" + script
					}
					t.compiled[filepath.Clean(script)] = true
				}
			}
		}
	}
	return t.compiled[filepath.Clean(stem)]
}

// isDated reports whether the modification time of a file counts. A program that has
// opened a file may have asked for it, which is not seen (fstat). Shells do not ask for that
// of their scripts, nor the C library for that of libraries and languages. Python compares the times of its
// sources with those in its .pyc files, and runs the same either way.
func (t *taker) isDated(n *observe.Name) bool {
	asked, blind := n.Statted, t.known.blind
	if n.Bits&observe.Read != 0 && !isLibrary(n.Path) && !matches(n.Path, languages) {
		asked |= n.Programs &^ t.known.shells
	}
	if t.isImported(n) {
		blind |= t.known.python
	}
	return keepsDates && asked&t.known.all&^blind != 0
}

// isOwned reports whether the owner of a file counts. stat tells it to everybody; only known
// programs are known to ignore it. A program that opens a file and calls fstat is taken to
// ignore it too: the C library does that whenever a program reads.
func (t *taker) isOwned(n *observe.Name) bool {
	deaf := t.known.blind | t.known.known
	if t.isImported(n) {
		deaf |= t.known.python
	}
	return keepsOwners && n.Statted&t.known.all&^deaf != 0
}
