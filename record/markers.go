// Searches executables for the texts that identify known programs.

package record

import (
	"bytes"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
)

// Programs are told by texts in their files. The text of g++'s compiler is in the middle of
// 35 MB, and to come to it takes six milliseconds. So what was found is remembered by the
// file's stamp, and for large files noted in the cache: each launched command is a process.

// found has what this process has found.
var found = request.NewTable[sought, bool](1024)

type sought struct {
	stamp Stamp
	text  string
}

// has reports whether an executable of the machine has a text in it. notes may be nil.
func has(path, text string, notes Notes) bool {
	s := status{Read: time.Now().UnixNano()}
	if s.At(ended(path), 0) != 0 {
		return false
	}
	k := sought{s.Stamp, text}
	k.stamp.Read = 0
	if !s.Stamp.Proves() {
		return contains(path, text)
	}
	is, known := found.Find(k)
	if !known {
		is = noted(path, text, &s.Stamp, notes)
		found.Put(k, is)
	}
	return is
}

// noted is contains with a note of what it returns. s is the file's stamp, which proves the
// content.
func noted(path, text string, s *Stamp, notes Notes) bool {
	if notes == nil || s.Size < large || !notesMarkers {
		return contains(path, text)
	}
	note := noteOf("text 1 "+text, s)
	if data := notes.LoadNote(&note.ID); len(data) == 1 {
		return data[0] == 1
	}
	is := contains(path, text)
	said := []byte{0}
	if is {
		said[0] = 1
	}
	notes.SaveNote(note, said)
	return is
}

// contains looks for a text in an ELF file.
func contains(path, text string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 4 || info.Size() > 1<<30 {
		return false
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer unix.Munmap(b)
	return string(b[:4]) == "\x7fELF" && bytes.Contains(b, []byte(text))
}
