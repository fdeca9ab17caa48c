// Variables that no manual documents, and whose names a program contains.

package record

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/core/wildcard"
)

// The manuals of known programs do not name all variables that these obey (clang's manual
// names neither CC_PRINT_HEADERS nor MACOSX_DEPLOYMENT_TARGET). A program asks for a
// variable by its name, so the name is a text in its file, or in a library's. A variable
// that is set and not documented therefore counts if a file has its name. Only names of
// capitals, digits and underscores are looked for, of at least four characters: clang's
// libraries contain the names of instructions and attributes, CI and LESS among them, and
// variables that everybody sets must not keep machines apart. The C library is not searched,
// because its variables are documented; TZDIR is left out, because the files of zones show
// its use (dates.go). A library that is linked and not loaded into a program asks for nothing.

// unsaid stands, among the variables that count, for the names of those that do not: its
// value is their digest. No variable can have this name. While the digest is the same, no
// further variable is set, and no program need be searched.
const unsaid = "="

// unvalued stands behind a name in World.Also if of the value only that it names a folder counts:
// nothing was looked at in it.
const unvalued = "="

// namesFolder reports whether a value can be nothing but a folder's path, and there is that folder. Any
// other value may be used without looking at a file, as clang uses a map of prefixes, /a=/b.
func namesFolder(value string) bool {
	var st unix.Stat_t
	return len(value) > 1 && value[0] == '/' && (!strings.ContainsAny(value, Signs) && unix.Stat(value, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR || !keepsPlain)
}

// whose are the variables in which a login puts the user's name. They do not count, just as
// a known program's getuid does not. (gfortran's compiler contains the word USER, which
// belongs to Fortran.)
var whose = []string{"USER", "LOGNAME"}

var cLibrary = []string{"libc.so.*", "libc-*.so", "libc.musl-*", "ld-linux*.so.*", "ld-musl-*", "ld64.so.*"}

// mayBeNamed reports whether a known program may obey a variable that is not documented.
func mayBeNamed(name string, also []string) bool {
	return len(name) >= shortestName && !isUnasked(name) && strings.Trim(name, variableLetters) == "" && name != "TZDIR" &&
		!slices.Contains(whose, name) && !documentedNames().has(name) && !withheldNames().has(name) && !slices.Contains(ours, name) && !slices.Contains(also, name)
}

const variableLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// unsaidOf is the digest of the names of variables that do not count.
func unsaidOf(env, also []string) Variable {
	var names []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); mayBeNamed(name, also) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	d := key.Sum(key.AppendTexts(nil, slices.Compact(names)...))
	return Variable{unsaid, [16]byte(d[:16])}
}

// named returns the names of the undocumented variables that are set and that a file of
// the programs contains.
func (t *taker) named() (names []string) {
	for _, e := range t.run.Env {
		name, value, _ := strings.Cut(e, "=")
		if !mayBeNamed(name, nil) || !t.list.names(name, t.full, t.run.Notes) {
			continue
		}
		if namesFolder(value) && !t.isFolderOf(value) {
			name += unvalued
		}
		names = append(names, name)
	}
	return names
}

// unnamedStill reports whether no variable has been set since whose name a program contains.
func (c *checker) unnamedStill() bool {
	w := &c.list.World
	if w.Rule != KnownVariables || !keepsNamed {
		return true
	}
	if !c.foldersStill() {
		return false
	}
	is := c.now.variables(w.Rule, w.Also)
	if slices.Equal(only(w.Variables), only(is)) {
		return true
	}
	for _, e := range c.now.all() {
		name, _, _ := strings.Cut(e, "=")
		if mayBeNamed(name, w.Also) && !slices.Contains(w.Also, name+unvalued) &&
			c.list.names(name, func(path string) string { return string(bytes.TrimRight(c.path(path), "\x00")) }, c.now.Notes) {
			c.why = "environment: " + name + " is set now, and a program contains its name"
			return false
		}
	}
	return true
}

// foldersStill reports whether the variables of which only that counts still name folders.
func (c *checker) foldersStill() bool {
	if !keepsPlain {
		return true
	}
	for _, also := range c.list.World.Also {
		name, is := strings.CutSuffix(also, unvalued)
		if is && !slices.ContainsFunc(c.now.all(), func(e string) bool {
			value, set := strings.CutPrefix(e, also)
			return set && namesFolder(value)
		}) {
			c.why = "environment: " + name + " no longer names a folder"
			return false
		}
	}
	return true
}

// only returns the entry unsaid of some variables, none if there is none.
func only(all []Variable) []Variable {
	i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == unsaid })
	if i < 0 {
		return nil
	}
	return all[i : i+1]
}

// names reports whether the file of a program or a library in the list contains a name.
// full turns a path of the list into one for the kernel.
func (l *List) names(name string, full func(string) string, notes Notes) bool {
	for i := range l.Files {
		f := &l.Files[i]
		_, base := split(f.Path)
		if f.Mode&0o111 == 0 && !isLibrary(f.Path) || f.Flags&(Loader|Linked) != 0 || wildcard.MatchesAny(base, cLibrary) {
			continue
		}
		all, err := inside.Get(f.Digest, func() (string, error) { return notedNames(full(f.Path), f.Digest, notes) })
		if err != nil || hasName(all, name) {
			return true // a file that cannot be read may contain any name
		}
	}
	return false
}

// inside has the names that files contain, as notedNames returns them, by the digests of the files.
var inside = request.NewTable[key.Digest, string](512)

// whole stands behind a name that is a text by itself, and not only the end of a longer
// one. No name contains it, and it sorts before all letters.
const whole = "$"

// hasName reports whether a name is among the texts that notedNames returns. Linkers
// merge a text into a longer one that ends in it, so a match with the end of a text counts.
// For plain words only a whole text does: too many texts end in USER or TYPE.
func hasName(all, name string) bool {
	back := reversed(name)
	if !strings.Contains(name, "_") {
		back += whole
	}
	for len(all) > 0 { // a binary search in the text itself: cc1 has 3,000 lines, of which a search needs 12
		middle := strings.LastIndexByte(all[:len(all)/2], '\n')
		line, rest, _ := strings.Cut(all[middle+1:], "\n")
		switch {
		case strings.HasPrefix(line, back):
			return true
		case line < back:
			all = rest
		default:
			all = all[:max(middle, 0)]
		}
	}
	return false
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// notedNames returns the names that a file contains, a line each, reversed and sorted. It notes them: finding
// them takes a millisecond per megabyte, and clang with its libraries has 200.
func notedNames(path string, digest key.Digest, notes Notes) (string, error) {
	note := key.Note("names in 2", digest[:])
	if notes != nil {
		if data := notes.LoadNote(&note.ID); len(data) > 0 {
			return string(data[1:]), nil
		}
	}
	found, err := namesIn(path)
	all := strings.Join(found, "\n")
	if err == nil && notes != nil {
		notes.SaveNote(note, append([]byte{'\n'}, all...))
	}
	return all, err
}

// namesIn returns all texts in a program or a library that could be names of variables,
// reversed and sorted. They end in a NUL, and are not among the instructions.
func namesIn(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found := map[string]bool{}
	for _, s := range dataOf(f) {
		if err := collect(io.NewSectionReader(f, int64(s.at), int64(min(s.size, mostData))), found); err != nil {
			return nil, err
		}
	}
	all := make([]string, 0, len(found))
	for name, alone := range found {
		text := reversed(name)
		if alone {
			text += whole
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all, nil
}

const mostData = 1 << 30

// letters has all bits set for each byte that a name may contain, and none for the others.
var letters = func() (all [256]int) {
	for _, c := range []byte(variableLetters) {
		all[c] = -1
	}
	return all
}()

// Only names of these lengths are looked for.
const shortestName, longestName = 4, 64

// collect adds the texts that could be names, each with whether it stands by itself.
func collect(r io.Reader, found map[string]bool) error {
	buffer := append(make([]byte, 0, 1<<20), 0) // before the first text
	for {
		n, err := io.ReadFull(r, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		run := 0 // letters before this byte
		for i, c := range buffer {
			if run >= shortestName && c == 0 {
				name := buffer[i-min(run, longestName) : i]
				alone := run <= longestName && buffer[i-run-1] == 0
				if was, is := found[string(name)]; !is || alone && !was {
					found[string(name)] = alone
				}
			}
			run = (run + 1) & letters[c]
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
		// Keep the unfinished run, and the byte before it.
		kept := min(run+1, longestName+2)
		buffer = append(buffer[:0], buffer[len(buffer)-kept:]...)
	}
}
