// Precompiled headers of gcc, which count as the commands that made them.

package record

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/observe"
)

// A precompiled header of gcc holds addresses. Two that one command makes of the same headers
// differ in a quarter of their bytes (44 of 158 MB), and what is compiled with either is the
// same. So for gcc a precompiled header counts as the key of the result of the command that
// made it, which has the command's words, the compiler, variables and the headers as they were
// then. It does so only if that result may be kept (one with __TIME__ may not), and while stat
// says that the file is the one that the command has left. Otherwise, and for all other
// programs, its bytes count. A build of the library counts its bytes too: it leaves no file behind.

// precompiledMarker is how each of them begins.
const precompiledMarker = "gpch"

// PrecompiledHeader is one that a command has left, with its stamp when the command had ended.
type PrecompiledHeader struct {
	Path  string
	Stamp Stamp
}

// PrecompiledHeaders returns those of the files that are one.
func PrecompiledHeaders(paths []string) (found []PrecompiledHeader) {
	for _, path := range paths {
		was := status{Read: time.Now().UnixNano()}
		if was.At(ended(path), unix.AT_SYMLINK_NOFOLLOW) == 0 && was.Kind() == unix.S_IFREG && BeginsPrecompiled(headOf(path)) {
			found = append(found, PrecompiledHeader{path, was.Stamp})
		}
	}
	return found
}

// BeginsPrecompiled reports whether a file that begins with these bytes is one.
func BeginsPrecompiled(head []byte) bool {
	return len(head) > len(precompiledMarker) && string(head[:len(precompiledMarker)]) == precompiledMarker
}

// NoteMaker notes the key of the result of the command that has left the header. It waits until
// the stamp proves that the file is the same, a twentieth of a second after it was written, and
// notes nothing if the stamp does not, or if the file is another one by then.
func (h *PrecompiledHeader) NoteMaker(notes Notes, maker *key.ID) {
	now := status{Read: time.Now().UnixNano()}
	if age := now.Read - max(h.Stamp.Mtime, h.Stamp.Ctime); age >= 0 && age < int64(settles) {
		time.Sleep(settles - time.Duration(age))
		now.Read = time.Now().UnixNano()
	}
	if now.At(ended(h.Path), unix.AT_SYMLINK_NOFOLLOW) != 0 || !now.Stamp.Same(&h.Stamp) || !now.Stamp.Proves() {
		return
	}
	k := makerNote(&now.Stamp)
	notes.SaveNote(k, maker[:])
	notes.UsedNote(&k.ID)
}

// settles is how long after its last change the stamp of a file proves that it is the same, on
// file systems whose times have fractions of seconds.
const settles = 60 * time.Millisecond

func makerNote(s *Stamp) *key.Key {
	if !bindsMakers {
		s = &Stamp{Dev: s.Dev, Ino: s.Ino}
	}
	return noteOf("maker of a precompiled header 1", s)
}

// makerOf returns the key of the result of the command that made the precompiled header with
// this stamp. It reports false if that is not known.
func (d *digests) makerOf(was *Stamp) (maker key.Digest, known bool) {
	if d.notes == nil || !was.Proves() || !countsMakers {
		return maker, false
	}
	data := d.notes.LoadNote(&makerNote(was).ID)
	return maker, copy(maker[:], data) == len(maker) && len(data) == len(maker)
}

// makerOf returns the key that a precompiled header counts as, if only gcc has looked at it, and no
// source has #embed, with which gcc takes the bytes of any file.
func (t *taker) makerOf(n *observe.Name, was *Stamp) (maker key.Digest, known bool) {
	if n.Bits&observe.Read == 0 || n.Programs&^t.ofGCC() != 0 && keepsBytes || !BeginsPrecompiled(headOf(n.Path)) {
		return maker, false
	}
	if maker, known = t.digests.makerOf(was); known && t.embeds() {
		return maker, false
	}
	return maker, known
}

// embeds reports whether a source that gcc has read may have #embed.
func (t *taker) embeds() bool {
	if !seesEmbeds {
		return false
	}
	gcc := t.ofGCC()
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if n.Readers&gcc == 0 || n.Mode&unix.S_IFMT != unix.S_IFREG || n.Errno != 0 || isLibrary(n.Path) {
			continue
		}
		data := n.Content
		if n.Bits&observe.Sent == 0 {
			head := headOf(n.Path)
			if BeginsPrecompiled(head) || strings.HasPrefix(string(head), "\x7fELF") {
				continue
			}
			var err error
			if data, _, err = readAll(n.Path, mostText); err != nil {
				return true
			}
		}
		if bytes.Contains(bytes.ReplaceAll(data, []byte("\\\n"), nil), []byte("embed")) {
			return true
		}
	}
	return false
}

// ofGCC returns the programs that are known, and of gcc's family.
func (t *taker) ofGCC() (mask uint64) {
	others := t.known.substituted
	for i := range t.run.Report.Programs {
		p := &t.run.Report.Programs[i]
		if slices.Contains(families[0].names, plainName(p.Path)) {
			mask |= bitOf(p.ID)
		} else {
			others |= bitOf(p.ID)
		}
	}
	return mask & t.known.known &^ others
}
