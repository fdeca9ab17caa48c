// How a command puts an output in the place of a file that stands there.

package record

import (
	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
)

// Placement says what a command does to a file that stands where it leaves an output. Who holds that
// file open, or has another name of it, sees the difference. A file that is written into keeps its
// permissions, its owner and its names.
type Placement uint8

// The placements.
const (
	Replacing      Placement = iota // makes a new file, whatever stands there
	InPlace                         // empties the file that stands there, and writes into it
	InPlaceIfEmpty                  // does so if that file is empty, and else makes a new one
)

// Output is what a list's owner needs to know of a file that the command has left, to put it in place
// as the command would.
type Output struct {
	Placement Placement
	// Counts: the permissions of what stood there are in the list.
	Counts bool
	// Adds: if the command sets permissions, it adds to those that the file has. Linkers do.
	Adds bool
}

// placements notes how the command put files in place. GNU's linkers and assembler look at what
// stands there, and remove it unless it is empty. Other known programs that empty a file do so whatever
// is in it. For unknown ones it counts what stood there (haveToLook).
func (t *taker) placements() {
	t.run.Outputs = map[string]Output{}
	if !keepsPlacements {
		return
	}
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		o := Output{Counts: t.overwritten[f.Path], Adds: !t.known.unknown}
		switch {
		case t.removed[f.Path]:
			o.Placement = InPlaceIfEmpty
		case f.How&observe.InPlace != 0:
			o.Placement = InPlace
		}
		t.run.Outputs[f.Path] = o
	}
}

// writtenAt returns the path without links of a name that the command has made something at.
func (t *taker) writtenAt(n *observe.Name) string {
	folder, name := split(n.Path)
	if folder = t.real(folder); folder == "/" {
		folder = ""
	}
	return folder + "/" + name
}

// overwrite notes what stood at a path that the command read, and then wrote: it is an input, as it
// was before the first write. For programs that may have asked for its time it is refused, because
// that is another one after each run.
func (t *taker) overwrite(n *observe.Name) error {
	switch {
	case n.Mode&unix.S_IFMT != unix.S_IFREG || n.Errno != 0 || t.isDated(n) || t.isOwned(n):
		return request.Refuse(n.Path, "was read and then overwritten")
	case n.Bits&observe.Sent == 0 || !keepsStood:
		return request.Refuse(n.Path, "was read and then overwritten, and is too large to copy")
	}
	f := File{Path: n.Path, Mode: n.Mode, Digest: key.Sum(n.Content), Stamp: Stamp{Size: uint64(len(n.Content)), Mount: noMount}}
	if n.Bits&observe.Plain != 0 {
		f.Flags |= Plain
	}
	t.asks(n, n.Content)
	t.overwritten[t.writtenAt(n)] = true
	for _, f.Path = range t.forms(n) {
		t.list.Files = append(t.list.Files, f)
	}
	return t.permitted(n, false)
}
