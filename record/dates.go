package record

import (
	"path/filepath"
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
		case t.isZone(n.Path):
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

// isZone reports the same for the file that TZ names, wherever that is: by a path, or in
// the folder that TZDIR names (tzset(3)). It counts too if it is not there.
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

// isImported reports whether a file is a source that Python imports, and so looks for what
// it has made of it, or that it is started with; or is what it has made. Any other .py it
// looks at as anybody would.
func (t *taker) isImported(n *observe.Name) bool {
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

// isDated reports whether the modification time of a file counts: who has opened a
// file may ask for it too, which is not seen. Shells read their scripts, the loader
// reads libraries, and neither asks; Python compares its sources with what it has
// made of them, and runs the same either way.
func (t *taker) isDated(n *observe.Name) bool {
	asked, blind := n.Statted, t.known.blind
	if n.Bits&observe.Read != 0 && !isLibrary(n.Path) {
		asked |= n.Programs &^ t.known.shells
	}
	if t.isImported(n) {
		blind |= t.known.python
	}
	return keepsDates && asked&t.known.all&^blind != 0
}

// isOwned reports whether it counts whose a file is: stat says it to everybody, and only of
// programs that are known is it known that they do not listen. Who opens a file is taken not to
// ask: that would be every program that reads by the C library.
func (t *taker) isOwned(n *observe.Name) bool {
	deaf := t.known.blind | t.known.known
	if t.isImported(n) {
		deaf |= t.known.python
	}
	return keepsOwners && n.Statted&t.known.all&^deaf != 0
}
