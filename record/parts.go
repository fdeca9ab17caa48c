package record

import (
	"encoding/binary"
	"path/filepath"
	"strings"

	"jitcache/core/key"
)

// Part is one aspect of a world, for the key of a result and to explain a miss.
type Part struct {
	Label  string
	Digest key.Digest
}

// Parts returns everything in the list but stamps and payload, by aspect: two
// lists with the same parts are of the same world, on whatever machine.
func (l *List) Parts() []Part {
	var files, libraries, absent encoder
	for i := range l.Files {
		f := &l.Files[i]
		e := &files
		if isLibrary(f.Path) || f.Flags&Loader != 0 {
			e = &libraries
		}
		e.text(f.Path)
		e.number(uint64(f.Flags))
		e.number(uint64(f.Mode))
		if f.Flags&Dated != 0 {
			e.signed(f.Stamp.Mtime)
		}
		e.b = append(e.b, f.Digest[:]...)
	}
	for i := range l.Folders {
		f := &l.Folders[i]
		absent.text(f.Path)
		absent.number(uint64(f.Flags))
		absent.texts(f.Absent)
		absent.b = append(absent.b, f.Names[:]...)
		absent.texts(f.Except)
	}
	for _, k := range l.Links {
		absent.text(k.Path)
		absent.text(k.Text)
	}
	for _, f := range l.Failures {
		absent.text(f.Path)
		absent.number(uint64(f.Errno))
	}
	for _, k := range l.Kinds {
		absent.text(k.Path)
		absent.number(uint64(k.Mode))
	}
	var environment encoder
	environment.number(uint64(l.World.Rule))
	for _, v := range l.World.Variables {
		environment.text(v.Name)
		environment.b = append(environment.b, v.Value[:]...)
	}
	environment.b = append(environment.b, l.World.Limits[:]...)
	return []Part{
		{"files", key.Sum(files.b)},
		{"programs' libraries", key.Sum(libraries.b)},
		{"names that are absent", key.Sum(absent.b)},
		{"environment", key.Sum(environment.b)},
		{"processor", l.World.CPU},
		{"host", l.World.Host},
		{"folder", key.Sum(binary.LittleEndian.AppendUint32([]byte(l.World.Dir), uint32(len(l.World.Dir))))},
	}
}

// isLibrary reports whether a path is that of a shared library.
func isLibrary(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")
}
