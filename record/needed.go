// Reads from ELF files the libraries that they need, and their data.

package record

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
)

// The parts of a 64-bit ELF file that lead to the libraries that it needs, by their names
// in elf(5). debug/elf would do, but adds 250 kB to a library that every forked child
// copies (core/key avoids it for the same reason).
const (
	elfHead     = 64
	segmentHead = 56
	loaded      = 1 // PT_LOAD
	dynamic     = 2 // PT_DYNAMIC
	neededTag   = 1 // DT_NEEDED
	stringsTag  = 5 // DT_STRTAB
	sharedType  = 3 // ET_DYN
	mostSegment = 1 << 12
	mostDynamic = 1 << 20
	mostName    = 1 << 12
)

// importsOf returns the libraries that a program or a library names, without folders. It
// returns none for any other file.
func importsOf(path string) []string {
	f, err := openRaw(path)
	if err != nil {
		return nil
	}
	names := imports(f)
	f.close()
	return names
}

func imports(r io.ReaderAt) []string {
	le := binary.LittleEndian
	segments := segmentsOf(r)
	var offsets []uint64
	var strings uint64
	for _, s := range segments {
		if s.kind != dynamic || s.size > mostDynamic {
			continue
		}
		table := make([]byte, s.size)
		if _, err := r.ReadAt(table, int64(s.at)); err != nil {
			return nil
		}
		for ; len(table) >= 16; table = table[16:] {
			tag, value := le.Uint64(table), le.Uint64(table[8:])
			switch tag {
			case neededTag:
				offsets = append(offsets, value)
			case stringsTag:
				strings = value
			}
		}
	}
	var names []string
	for _, s := range segments {
		if s.kind != loaded || strings < s.address || strings-s.address >= s.size {
			continue
		}
		for _, offset := range offsets {
			text := make([]byte, mostName)
			n, _ := r.ReadAt(text, int64(s.at+strings-s.address+offset))
			if end := bytes.IndexByte(text[:n], 0); end > 0 {
				names = append(names, filepath.Base(string(text[:end])))
			}
		}
		break
	}
	return names
}

// segment is a part of a file, and where it is loaded.
type segment struct {
	kind              uint32
	at, address, size uint64
}

func segmentsOf(r io.ReaderAt) []segment {
	le := binary.LittleEndian
	var h [elfHead]byte
	if _, err := r.ReadAt(h[:], 0); err != nil || string(h[:6]) != "\x7fELF\x02\x01" {
		return nil
	}
	offset, size, count := int64(le.Uint64(h[32:])), int64(le.Uint16(h[54:])), int64(le.Uint16(h[56:]))
	if size < segmentHead || count > mostSegment {
		return nil
	}
	table := make([]byte, size*count)
	if _, err := r.ReadAt(table, offset); err != nil {
		return nil
	}
	var all []segment
	for ; len(table) > 0; table = table[size:] {
		all = append(all, segment{le.Uint32(table), le.Uint64(table[8:]), le.Uint64(table[16:]), le.Uint64(table[32:])})
	}
	return all
}

// The parts that lead to a program's data.
const (
	sectionHead = 64
	progbits    = 1 // SHT_PROGBITS
	allocated   = 2 // SHF_ALLOC
	executable  = 4 // SHF_EXECINSTR
)

// dataOf returns the parts of a program or a library that are loaded and hold no
// instructions. Without a table of sections it returns everything that is loaded.
func dataOf(r io.ReaderAt) (all []segment) {
	le := binary.LittleEndian
	for _, s := range segmentsOf(r) {
		if s.kind == loaded {
			all = append(all, s)
		}
	}
	var h [elfHead]byte
	if _, err := r.ReadAt(h[:], 0); err != nil || all == nil {
		return nil
	}
	offset, size, count := int64(le.Uint64(h[40:])), int64(le.Uint16(h[58:])), int64(le.Uint16(h[60:]))
	if offset <= 0 || size != sectionHead || count == 0 {
		return all
	}
	table := make([]byte, size*count)
	if _, err := r.ReadAt(table, offset); err != nil {
		return all
	}
	var data []segment
	for ; len(table) > 0; table = table[size:] {
		if flags := le.Uint64(table[8:]); le.Uint32(table[4:]) == progbits && flags&(allocated|executable) == allocated {
			data = append(data, segment{at: le.Uint64(table[24:]), address: le.Uint64(table[16:]), size: le.Uint64(table[32:])})
		}
	}
	return data
}
