// The parts of a world: components of a result's key, by which a miss is explained.

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
	var files, libraries, names encoder
	kin := l.kinship(func(i int) *Stamp { return &l.Files[i].Stamp })
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
		if f.Flags&Owned != 0 {
			e.number(f.Owner)
		}
		if len(kin) > 0 && kin[0].index == i {
			e.text(l.Files[kin[0].file].Path)
			e.text(l.Files[kin[0].time].Path)
			kin = kin[1:]
		}
		e.b = append(e.b, f.Digest[:]...)
	}
	names.number(uint64(len(l.Folders)))
	same := l.sameFolders(nil)
	for i := range l.Folders {
		f := &l.Folders[i]
		names.text(f.Path)
		names.number(uint64(f.Flags))
		names.texts(f.Absent)
		names.b = append(names.b, f.Names[:]...)
		names.texts(f.Except)
		if same[i] >= 0 {
			names.text(l.Folders[same[i]].Path)
		}
	}
	names.number(uint64(len(l.Links)))
	for _, k := range l.Links {
		names.text(k.Path)
		names.text(k.Text)
	}
	names.number(uint64(len(l.Failures)))
	for _, f := range l.Failures {
		names.text(f.Path)
		names.number(uint64(f.Errno))
	}
	for _, k := range l.Kinds {
		names.text(k.Path)
		names.kind(&k)
	}
	names.number(uint64(len(l.Permits)))
	for _, p := range l.Permits {
		names.text(p.Path)
		names.number(uint64(p.How))
		names.number(uint64(p.Errno))
	}
	var environment encoder
	environment.number(uint64(l.World.Rule))
	environment.texts(l.World.Also)
	for _, v := range l.World.Variables {
		if v.Name == unsaid || v.Name == "PATH" && l.World.bySearch() {
			continue // says nothing of the result
		}
		environment.text(v.Name)
		environment.b = append(environment.b, v.Value[:]...)
	}
	environment.b = append(environment.b, l.World.Limits[:]...)
	environment.number(l.World.Asked)
	return []Part{
		{"files", key.Sum(files.b)},
		{"programs' libraries", key.Sum(libraries.b)},
		{"names that are absent", key.Sum(names.b)},
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
