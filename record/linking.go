package record

import (
	"slices"

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
	return match(name, "cc*.mk") && isTemporary(t.run, folder) && t.isMade(p.Args[at+1])
}
