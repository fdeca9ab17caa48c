package native

import (
	"path/filepath"
	"strings"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// A program of the toolchain is its file and the libraries that the loader gives
// it: clang is a small program before an LLVM of a hundred megabytes, and what
// both say of their version outlives a patch. The loader is asked for them, and
// its answer is noted per program, for all requests.

// loaderCache is where the loader looks libraries up. If it changes, the loader is
// asked again; what it says counts, and not this file.
const loaderCache = "/etc/ld.so.cache"

// aboutProgram begins what a question to the loader is about; the program follows.
const aboutProgram = "program "

// programStore returns where the list of a program is.
func (rec *record) programStore(program string) *manifest.Store {
	if rec.programs[program] == nil {
		b := key.NewBuilder()
		b.Add("schema", []byte(schema))
		b.Add("program", []byte(program))
		b.AddTexts("loader", rec.loader)
		b.SetKind("manifest")
		rec.programs[program] = newStore(b)
	}
	return rec.programs[program]
}

// programLists returns the list of each program of a toolchain, or the question
// what one of them consists of.
func (rec *record) programLists(t *toolchain, cache manifest.Cache) (lists []*manifest.List, q *Question, err error) {
	for _, program := range t.programs {
		found := rec.look(rec.programStore(program), cache)
		loader := ""
		if found == nil {
			loader = key.Interpreter(program)
		}
		switch {
		case loader != "" && keepsLibraries:
			return nil, &Question{[]string{loader, "--list", program}, aboutProgram + program}, nil
		case found == nil:
			if err := rec.takeProgram(program, nil, cache); err != nil {
				return nil, nil, err
			}
			if found = rec.look(rec.programStore(program), cache); found == nil {
				return nil, nil, request.Refuse(program, "changes while it is read")
			}
		}
		lists = append(lists, found)
	}
	return lists, nil, nil
}

// library is what the loader found for a name.
type library struct{ name, path string }

// libraries reads what the loader prints with --list, a library a line:
//
//	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f148c864000)
//
// What has no path is the kernel's, the loader itself, or not found.
func libraries(listed string) (found []library) {
	for _, line := range strings.Split(listed, "\n") {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " => ")
		if path, _, _ = strings.Cut(path, " (0x"); filepath.IsAbs(path) {
			found = append(found, library{name, path})
		}
	}
	return found
}

// takeProgram takes what the loader has listed.
func (rec *record) takeProgram(program string, listed []byte, cache manifest.Cache) error {
	paths := []string{program}
	absent := map[string]bool{}
	folders := rec.loaderFolders()
	for _, lib := range libraries(string(listed)) {
		paths = append(paths, lib.path)
		for _, dir := range folders {
			candidate := join(dir, lib.name)
			if candidate == lib.path {
				break
			}
			absent[candidate] = true
		}
	}
	l := &manifest.List{}
	var all []byte
	for _, path := range unique(paths) {
		file, err := manifest.Digest(path)
		if err != nil {
			return request.Refuse(program, err.Error())
		}
		l.Files = append(l.Files, file)
		all = append(all, file.Digest[:]...)
		delete(absent, path)
	}
	if file, err := manifest.Digest(loaderCache); err == nil {
		l.Files = append(l.Files, file)
	} else if key.IsAbsent(err) {
		l.Absent = append(l.Absent, loaderCache)
	}
	for path := range absent {
		l.Absent = append(l.Absent, path)
	}
	sortPaths(l.Absent)
	d := key.Sum(all)
	l.Payload = d[:]
	rec.programStore(program).Add(l, cache)
	return nil
}

// loaderFolders are those where the environment has the loader look first.
func (rec *record) loaderFolders() []string {
	var found []string
	for _, v := range rec.loader {
		if path, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok {
			for _, dir := range strings.FieldsFunc(path, func(r rune) bool { return r == ':' || r == ';' }) {
				if filepath.IsAbs(dir) {
					found = append(found, strings.TrimSuffix(dir, "/"))
				}
			}
		}
	}
	return found
}
