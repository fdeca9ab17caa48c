// Files whose content equals a text that was written for the command.

package record

import (
	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/observe"
)

// A file can have a twin (twins.go) that no list has: a text that we put into the private
// folder. All texts have one time, so the file's own time decides whether it is the same,
// and counts.

// textual marks the files that are twins of a text.
func (t *taker) textual() {
	sizes := map[uint64][]int{}
	for i := range t.list.Files {
		if f := &t.list.Files[i]; f.Stamp.Size != 0 && t.included[f.Path] && keepsTwins {
			sizes[f.Stamp.Size] = append(sizes[f.Stamp.Size], i)
		}
	}
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if len(sizes[n.Stamp.Size]) == 0 || n.Mode&unix.S_IFMT != unix.S_IFREG || n.Bits&observe.Made != 0 || !t.private(n.Path) {
			continue
		}
		digest := key.Sum(n.Content)
		if n.Bits&observe.Sent == 0 {
			var err error
			if digest, _, err = contentOf(n.Path); err != nil {
				continue
			}
		}
		for _, i := range sizes[n.Stamp.Size] {
			if f := &t.list.Files[i]; f.Digest == digest {
				f.Flags |= Dated
			}
		}
	}
}
