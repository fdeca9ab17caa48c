// Recognises the make and the shell that gcc starts for a link with -flto.

package record

import (
	"path/filepath"
	"slices"
	"strings"

	"jitcache/core/wildcard"
	"jitcache/observe"
)

// For -flto=auto, gcc's lto-wrapper writes a makefile into the folder for temporary files, and starts make. make lists the
// folder, to find what the makefile names: files that lto-wrapper has made there. Nothing else in the folder matters to
// it. A makefile of somebody else's may name anything.

// linkTimeMakes returns the programs that are make and were only started so.
func (t *taker) linkTimeMakes() (mask uint64) {
	all := t.run.Report.Programs
	for i := range all {
		if f := familyOf(all[i].Path, t.run.Notes); f != nil && f.does&making != 0 && plainName(all[i].Path) != "ccache" {
			mask |= bitOf(all[i].ID)
		}
	}
	for i := range all {
		if bit := bitOf(all[i].ID); mask&bit != 0 && !t.isLinkTimeMake(&all[i]) {
			mask &^= bit
		}
	}
	return mask
}

func (t *taker) isLinkTimeMake(p *observe.Program) bool {
	at := slices.Index(p.Args, "-f")
	if !keepsMakefiles || len(p.Args) == 2 && p.Args[1] == "--version" { // lto-wrapper looks whether there is make
		return true
	}
	if at < 0 || at+1 == len(p.Args) || slices.Contains(p.Args[at+2:], "-f") {
		return false
	}
	folder, name := split(p.Args[at+1])
	return wildcard.Matches(name, "cc*.mk") && isTemporary(t.run, folder) && t.isMade(p.Args[at+1])
}

// The makefile runs compilers and, for each, a shell that empties a file of lto-wrapper's. Where all others in the tree are
// known, lto-wrapper has written the makefile, and these programs obey variables only by the names in their files, as known
// programs do.

// emptying is what the shell does, with four names: gcc 12's lto-wrapper.c, run_gcc.
var emptying = strings.Split("touch -r * * > /dev/null 2>&1 && mv * *", " ")

// namesEmptied returns the names in such a command of a shell, nil if it is another.
func namesEmptied(command string) (names []string) {
	words := strings.Split(command, " ")
	if len(words) != len(emptying) {
		return nil
	}
	for i, word := range words {
		switch {
		case emptying[i] == "*":
			names = append(names, word)
		case emptying[i] != word:
			return nil
		}
	}
	return names
}

// ofLinks returns the programs that make such a link and would not be known by themselves; none if one of them does
// anything else.
func (t *taker) ofLinks() (mask uint64) {
	for i := range t.run.Report.Programs {
		p := &t.run.Report.Programs[i]
		if is, does := t.doesForLink(p); does && p.ID < 63 {
			mask |= bitOf(p.ID)
		} else if is {
			return 0
		}
	}
	return mask
}

// doesForLink reports whether a program is one of those, and whether it does what lto-wrapper makes it do.
func (t *taker) doesForLink(p *observe.Program) (is, does bool) {
	var words []string
	if len(p.Args) > 1 {
		words = p.Args[1:]
	}
	name := plainName(p.Path)
	if !keepsMakes && slices.Contains([]string{"make", "gmake", "sh", "bash", "dash", "touch", "mv"}, name) {
		return true, true
	}
	switch name {
	case "make", "gmake":
		return true, t.isLinkTimeMake(p) && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "=") })
	case "sh", "bash", "dash":
		if len(words) != 2 || words[0] != "-c" {
			return true, false
		}
		names := namesEmptied(words[1])
		return true, names != nil && t.hasMade(names...)
	case "touch":
		return true, len(words) == 3 && words[0] == "-r" && t.hasMade(words[1:]...)
	case "mv":
		return true, len(words) == 2 && t.hasMade(words...)
	}
	return false, false
}

// hasMade reports whether the tree has made all files with these paths, none of which has a sign that a shell would take
// for something else.
func (t *taker) hasMade(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		return strings.ContainsAny(path, "$`\\\"'*?[]{}()<>|&;~#= \t\n") || !filepath.IsAbs(path) || !t.isMade(path)
	})
}
