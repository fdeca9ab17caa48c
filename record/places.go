// Files and folders whose paths change each time: names stand for them in lists and texts.

package record

import (
	"slices"
	"sort"
	"strings"

	"jitcache/core/request"
	"jitcache/observe"
)

// Place is a file or folder whose path means nothing: the caller says that it is another
// one each time. In lists its Name stands for its Path.
type Place struct{ Name, Path string }

// Relative ends the name of a place whose path is relative to the folder to run in. No name of the caller's contains
// its first byte.
const Relative = "{relative"

// mark begins the name of a place where it stands for a path. No path begins with this
// byte: a path in a list begins with a slash or with the first byte of a name.
const mark = "\x01"

// Mark replaces the path of each place in a text by the place's name. It does so where the
// path stands as one: at the beginning of a word, behind an option's letters or one of
// Signs, and not in the middle of another path. setuptools puts whole paths below folders,
// so in a path that begins with a place the others are marked in its middle too.
func Mark(text string, places []Place) string {
	sorted := longestFirst(places, func(p Place) string { return p.Path })
	for before := ""; before != text; {
		before = text
		for _, p := range sorted {
			text = replaced(text, p.Path, mark+p.Name)
		}
	}
	return text
}

// Unmark is the reverse.
func Unmark(text string, places []Place) string {
	// The longest first: a name may begin as another does.
	for _, p := range longestFirst(places, func(p Place) string { return p.Name }) {
		text = strings.ReplaceAll(text, mark+p.Name, p.Path)
	}
	return text
}

func longestFirst(places []Place, of func(Place) string) []Place {
	sorted := slices.Clone(places)
	sort.SliceStable(sorted, func(i, j int) bool { return len(of(sorted[i])) > len(of(sorted[j])) })
	return sorted
}

func replaced(text, path, name string) string {
	var b strings.Builder
	done := 0
	for from := 0; ; {
		i := strings.Index(text[from:], path)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(path)
		if (BeginsPath(text[:at], path) || isBelow(b.String()+text[done:at])) && endsName(text[from:]) {
			b.WriteString(text[done:at])
			b.WriteString(name)
			done = from
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isBelow reports whether the path at the end of a text begins with a place.
func isBelow(before string) bool {
	path := before[strings.LastIndexAny(before, Signs)+1:]
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, mark)
}

// Signs stand before and behind paths in words.
const Signs = "=,:;@&|<>()[]{}\"'`\\ \t\r\n\x00"

// BeginsPath reports whether a path can begin after a text: at its beginning, behind one of Signs, behind the letters
// of an option, or behind the sign of a script's first line. In "foo/tmp/x" no path begins with /tmp.
func BeginsPath(before, path string) bool {
	before = before[strings.LastIndexAny(before, Signs)+1:]
	if before == "" || before == "#!" || !tellsPaths && !strings.Contains(before, "/") {
		return true
	}
	option := len(before) > 1 && before[0] == '-'
	for i := 1; i < len(before); i++ {
		option = option && isLetter(before[i])
	}
	if path[0] != '/' {
		return before == "./" || option && len(before) == 2 && !isLetter(path[0]) // -o.x, but not -oa.x
	}
	return option
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// endsName reports whether a name can end before a text.
func endsName(after string) bool {
	return after == "" || after[0] == '/' || strings.IndexByte(Signs, after[0]) >= 0
}

// placed returns a path with the name of a place in front, if it begins with that place.
func placed(path string, places []Place) string {
	for _, p := range longestFirst(places, func(p Place) string { return p.Path }) {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "./"), p.Path); ok && (rest == "" || rest[0] == '/') {
			return Mark(mark+p.Name+rest, places)
		}
	}
	return path
}

// unplaced is the reverse.
func unplaced(path string, places []Place) string {
	if !strings.HasPrefix(path, mark) {
		return path
	}
	name, rest := path[len(mark):], ""
	if end := strings.IndexAny(name, "/"+mark); end >= 0 {
		name, rest = name[:end], name[end:]
	}
	for _, p := range places {
		if p.Name == name {
			return p.Path + Unmark(rest, places)
		}
	}
	return path // there is no such place, and no such file
}

// shown returns a path for people.
func shown(path string) string {
	if number, ok := strings.CutPrefix(path, descriptors); ok {
		if number == "0" {
			return "standard input"
		}
		return "descriptor " + number
	}
	if rest, ok := strings.CutPrefix(path, mark); ok {
		name, below, _ := strings.Cut(rest, "/")
		return strings.TrimRight("{"+name+"}/"+below, "/")
	}
	return path
}

// place puts the names of places into a list.
func (l *List) place(places []Place) {
	if len(places) == 0 {
		return
	}
	for i := range l.Files {
		l.Files[i].Path = placed(l.Files[i].Path, places)
	}
	for i := range l.Folders {
		l.Folders[i].Path = placed(l.Folders[i].Path, places)
	}
	for i := range l.Links {
		l.Links[i] = Link{placed(l.Links[i].Path, places), placed(l.Links[i].Text, places)}
	}
	for i := range l.Failures {
		l.Failures[i].Path = placed(l.Failures[i].Path, places)
	}
	for i := range l.Kinds {
		l.Kinds[i].Path = placed(l.Kinds[i].Path, places)
	}
	for i := range l.Permits {
		l.Permits[i].Path = placed(l.Permits[i].Path, places)
	}
}

// place puts the names of places into the list. CUDA's compilers hash the path of a source into names of
// code, and no search of the result finds that. So where they have run the result is one of its folder. A
// place elsewhere is refused.
func (t *taker) place() error {
	t.list.place(t.run.Places)
	dir := &t.list.World.Dir
	if !t.hashesPaths() || len(t.run.Places) == 0 || !keepsHashed {
		*dir = placed(*dir, t.run.Places)
		return nil
	}
	*dir = realDir(t.run.Dir)
	for _, p := range t.run.Places {
		if !within(t.run.Dir, p.Path) {
			return request.Refuse(p.Path, "may be hashed by CUDA's compiler, so it must count")
		}
	}
	return nil
}

// hashesPaths reports whether a compiler has run that hashes paths: nvcc and its front ends, or clang where
// it is told the hash (-fuse-cuid).
func (t *taker) hashesPaths() bool {
	return t.known.clearers|t.known.followers != 0 || slices.ContainsFunc(t.run.Report.Programs, func(p observe.Program) bool {
		return slices.ContainsFunc(p.Args, func(a string) bool { return strings.HasPrefix(a, "-cuid=") })
	})
}
