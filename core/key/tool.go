// The identity of a compiler or library: its GNU build id, else its content.

package key

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// toolIdentity identifies a program or library: "build-id:" and the bytes of its GNU
// build id, or "content:" and the BLAKE3 of the file. The linker makes the build id
// from the content. So it is the same after a copy or with a new time stamp, and a
// library of a hundred megabytes need not be read.
func toolIdentity(f *os.File) ([]byte, error) {
	if value := BuildIDValue(buildID(f)); value != nil {
		return value, nil
	}
	d, err := contentDigest(f)
	if err != nil {
		return nil, err
	}
	return append([]byte("content:"), d...), nil
}

// BuildIDValue returns the value of a Tool component for a library whose GNU
// build id is known, such as a loaded one; nil if it is too short to be a build
// id.
func BuildIDValue(id []byte) []byte {
	if len(id) < minBuildID {
		return nil
	}
	return append([]byte("build-id:"), id...)
}

// The parts of an ELF file that lead to the build id and the loader. debug/elf could
// read them, but it brings DWARF, zlib and zstd with it: 250 KB in a library that
// every forked child copies.
const (
	elfHeader  = 64
	elfInterp  = 3 // PT_INTERP
	elfNote    = 4 // PT_NOTE
	noteGNU    = "GNU\x00"
	noteID     = 3 // NT_GNU_BUILD_ID
	minBuildID = 8 // 16 (md5, uuid) or 20 (sha1) bytes in practice
	maxSegment = 1 << 20
	maxProgs   = 1 << 12
)

// buildID returns the GNU build id of an ELF file, or nil if there is none.
func buildID(r io.ReaderAt) (id []byte) {
	segments(r, elfNote, func(notes []byte) bool {
		id = findBuildID(notes)
		return id == nil
	})
	return id
}

// Interpreter returns the loader that an ELF program asks for, "" for a script
// and for a program that needs none.
func Interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	loader := ""
	segments(f, elfInterp, func(text []byte) bool {
		loader = string(bytes.TrimRight(text, "\x00"))
		return false
	})
	return loader
}

// segments calls fn with the segments of a type in a little-endian ELF file of 64
// bits, the only ones that jitcache runs on or compiles for, until it returns
// false.
func segments(r io.ReaderAt, kind uint32, fn func(data []byte) bool) {
	le := binary.LittleEndian
	var h [elfHeader]byte
	if _, err := r.ReadAt(h[:], 0); err != nil || string(h[:6]) != "\x7fELF\x02\x01" {
		return
	}
	offset, size, count := int64(le.Uint64(h[32:])), int64(le.Uint16(h[54:])), int64(le.Uint16(h[56:]))
	if size < 56 || count > maxProgs {
		return
	}
	for i := range count {
		var p [56]byte
		if _, err := r.ReadAt(p[:], offset+i*size); err != nil {
			return
		}
		at, n := int64(le.Uint64(p[8:])), le.Uint64(p[32:])
		if le.Uint32(p[:]) != kind || n > maxSegment {
			continue
		}
		data := make([]byte, n)
		if _, err := r.ReadAt(data, at); err == nil && !fn(data) {
			return
		}
	}
}

// findBuildID walks the notes of one segment: name size, descriptor size, type,
// then name and descriptor, each padded to four bytes.
func findBuildID(notes []byte) []byte {
	le := binary.LittleEndian
	for len(notes) >= 12 {
		nname, ndesc := uint64(le.Uint32(notes)), uint64(le.Uint32(notes[4:]))
		name, desc := (nname+3)&^3, (ndesc+3)&^3
		if 12+name+desc > uint64(len(notes)) {
			return nil
		}
		if le.Uint32(notes[8:]) == noteID && string(notes[12:12+nname]) == noteGNU && ndesc >= minBuildID {
			return notes[12+name : 12+name+ndesc]
		}
		notes = notes[12+name+desc:]
	}
	return nil
}
