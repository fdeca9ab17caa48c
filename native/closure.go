package native

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// closure is every file that a compile reads, and what follows for the key.
type closure struct {
	Sources []key.Digest // of the sources on disk, in order
	Headers key.Digest   // of the contents in the order in which they are read, and of what __has_include says
	Paths   key.Digest   // of the paths as the result may show them
	Links   key.Digest   // of the libraries and other files
	Shows   bool         // the result may show paths
	Refused string       // why the result cannot be keyed
	list    *manifest.List
}

// gatherer collects a closure.
type gatherer struct {
	p      *parts
	f      *flags
	t      *toolchain
	c      *closure
	quotes []string       // folders for "…" after the includer's own
	known  map[string]int // where in the list a file is
	absent map[string]bool
	same   map[identity]bool // files that were read
	texts  map[string][]byte // of files that were read, and of sources in memory
	says   []byte            // what __has_include says
	// compiled are the digests of precompiled headers that may be used.
	compiled []byte
	// explained has why a file was read, as far as directives tell.
	explained map[string]byte
	supposed  bool // something was read that no directive explains
}

const (
	isIncluded = 1 << iota
	isTested   // by __has_include
)

type identity struct{ dev, ino uint64 }

// gather makes the closure of what a compiler says it reads, in deps.
func gather(p *parts, f *flags, t *toolchain, deps [][]string) (*closure, error) {
	g := &gatherer{
		p: p, f: f, t: t, c: &closure{list: &manifest.List{}, Shows: f.showsPaths},
		known: map[string]int{}, absent: map[string]bool{}, same: map[identity]bool{}, texts: map[string][]byte{},
		explained: map[string]byte{},
	}
	g.quotes = append(append(g.quotes, f.quote...), t.Search...)
	var order []string
	for _, rule := range deps {
		order = append(order, rule...)
	}
	if err := g.read(unique(order)); err != nil {
		return nil, err
	}
	g.explain(unique(order))
	g.digest(order)
	if err := g.links(); err != nil {
		return nil, err
	}
	if len(g.c.list.Files)+len(g.c.list.Absent) > maxFiles {
		return nil, request.Refuse(p.words[0], "reads too many files")
	}
	g.c.list.Payload, _ = json.Marshal(g.c)
	return g.c, nil
}

// maxFiles bounds what a hit has to look at.
const maxFiles = 20000

// read reads the files. Names without a folder are the sources in memory.
func (g *gatherer) read(order []string) error {
	for i := range g.p.sources {
		s := &g.p.sources[i]
		if s.inMemory {
			g.texts[s.name] = s.text
		} else if _, err := g.add(s.name); err != nil {
			return err
		}
	}
	for _, path := range order {
		if path = strings.TrimPrefix(path, "./"); !filepath.IsAbs(path) {
			if _, ok := g.texts[path]; !ok {
				return request.Refuse(path, "is read relative to the folder of the build")
			}
		} else if keepsHeaders {
			if _, err := g.add(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// digest digests the contents in the order in which the compiler reads them.
func (g *gatherer) digest(order []string) {
	var contents, paths []byte
	for _, path := range order {
		path = strings.TrimPrefix(path, "./")
		i, onDisk := g.known[path]
		switch {
		case g.explained[path] == isTested:
			// clang reports what __has_include has found: that it is there counts.
		case onDisk:
			contents = append(contents, g.c.list.Files[i].Digest[:]...)
			paths = key.AppendTexts(paths, g.f.shown(path))
		default:
			contents = key.AppendTexts(contents, path)
		}
	}
	for i := range g.p.sources {
		if s := &g.p.sources[i]; !s.inMemory {
			g.c.Sources = append(g.c.Sources, g.c.list.Files[g.known[s.name]].Digest)
			paths = key.AppendTexts(paths, g.f.shown(s.name))
		}
	}
	g.c.Headers, g.c.Paths = key.Sum(slices.Concat(contents, g.says, g.compiled)), key.Sum(paths)
}

// add reads a file and lists it, once.
func (g *gatherer) add(path string) (*manifest.File, error) {
	files := &g.c.list.Files
	if i, ok := g.known[path]; ok {
		return &(*files)[i], nil
	}
	text, file, err := manifest.Read(path)
	if err != nil {
		return nil, err
	}
	g.known[path], g.texts[path] = len(*files), text
	g.same[identity{file.Stamp.Dev, file.Stamp.Ino}] = true
	*files = append(*files, file)
	return &(*files)[len(*files)-1], nil
}

// explain finds, for each file that was read, the places before it where it was
// looked for. Compilers do not report these.
func (g *gatherer) explain(order []string) {
	if !keepsHeaders {
		return
	}
	for i := range g.p.sources {
		g.explained[g.p.sources[i].name] = isIncluded
	}
	// The compiler's own beginning, and -include.
	g.follow(".", []directive{{name: "stdc-predef.h", form: has}})
	for _, name := range g.f.before {
		g.follow(".", []directive{{name: name, form: quote}})
	}
	open := map[string]bool{} // folders of files with an include that macros compute
	for _, path := range order {
		path = strings.TrimPrefix(path, "./")
		directives, s := scan(g.texts[path])
		g.note(path, s)
		if g.follow(folder(path), directives) {
			open[folder(path)] = true
		}
	}
	for _, path := range order {
		// What no directive explains: a computed name, or one that a lexer sees and
		// scan does not. It may have been looked for everywhere.
		if g.explained[path] == 0 && filepath.IsAbs(path) {
			g.suppose(path, order)
			g.supposed = true
		}
		for dir := range open {
			if filepath.IsAbs(path) {
				g.explained[path] |= isIncluded
				g.supposeIn(path, dir)
			}
		}
	}
	g.precompiled()
	for path := range g.absent {
		g.c.list.Absent = append(g.c.list.Absent, path)
	}
	sortPaths(g.c.list.Absent)
}

// follow looks where the compiler has looked. computed says that one of the
// names is not spelled out.
func (g *gatherer) follow(dir string, directives []directive) (computed bool) {
	for _, d := range directives {
		if d.name != "" {
			g.followOne(dir, d)
			continue
		}
		defined, ok := g.defined(d.macro)
		computed = computed || !ok
		for _, d := range defined {
			g.followOne(dir, d)
		}
	}
	return computed
}

// defined returns what a macro may stand for. Nothing, if it is defined nowhere:
// then the directive is in a branch that is not taken. ok is false if that is
// not known.
func (g *gatherer) defined(macro string) (found []directive, ok bool) {
	if macro == "" {
		return nil, false
	}
	for _, flag := range g.p.flags {
		if strings.Contains(flag, macro) {
			return nil, false
		}
	}
	for _, text := range g.texts {
		in, ok := values(text, macro)
		if !ok {
			return nil, false
		}
		found = append(found, in...)
	}
	return found, true
}

func (g *gatherer) followOne(dir string, d directive) {
	tests := d.form >= has
	all := d.form == next || d.form == hasNext // who comes after is not known here
	var before []string
	for _, path := range g.places(dir, d) {
		state, read := g.look(path)
		switch {
		case state == missing:
			before = append(before, path)
			continue
		case read:
			if tests {
				g.explained[path] |= isTested
			} else {
				g.explained[path] |= isIncluded
			}
		case tests && filepath.IsAbs(path):
			g.add(path) // that it is there counts
		case !tests && !all:
			return // in a branch that is not taken: nobody has looked
		}
		if tests {
			g.says = append(g.says, 1)
		}
		if !all {
			g.missing(before)
			return
		}
	}
	if tests {
		g.says = append(g.says, 0)
	}
	if tests || all {
		g.missing(before)
	}
	// An include of what is nowhere is in a branch that is not taken, and that can
	// only change with another file.
}

// places are the paths under which a name is looked for, in order.
func (g *gatherer) places(dir string, d directive) []string {
	if filepath.IsAbs(d.name) {
		return []string{d.name}
	}
	var all []string
	folders := g.t.Search
	if d.form != angle && d.form != has {
		all = append(all, join(dir, d.name))
		folders = g.quotes
	}
	for _, f := range folders {
		all = append(all, join(f, d.name))
	}
	return all
}

// join spells a path as compilers do.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

const (
	missing = iota
	there
)

// look says whether there is a file, and whether it is one that was read.
func (g *gatherer) look(path string) (state int, read bool) {
	if !filepath.IsAbs(path) {
		_, ok := g.texts[path]
		if ok {
			return there, true
		}
		return missing, false
	}
	if _, ok := g.known[path]; ok {
		return there, true
	}
	if g.absent[path] {
		return missing, false
	}
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil || st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return missing, false
	}
	return there, g.same[identity{st.Dev, st.Ino}]
}

func (g *gatherer) missing(paths []string) {
	if !keepsAbsent {
		return
	}
	for _, path := range paths {
		if filepath.IsAbs(path) {
			g.absent[path] = true
		}
	}
}

// suppose takes it that a file was looked for in every folder that could have
// come first.
func (g *gatherer) suppose(path string, order []string) {
	done := map[string]bool{}
	for _, includer := range order {
		if dir := folder(includer); !done[dir] {
			done[dir] = true
			g.supposeIn(path, dir)
		}
	}
}

// supposeIn takes it that a file in dir includes path by a name that is not
// known: whatever is left of the path behind a folder that is searched.
func (g *gatherer) supposeIn(path, dir string) {
	for _, from := range append([]string{dir, folder(path)}, g.quotes...) {
		if name, ok := strings.CutPrefix(path, strings.TrimSuffix(from, "/")+"/"); ok {
			var before []string
			for _, place := range g.places(dir, directive{name: name}) {
				if state, _ := g.look(place); state != missing {
					break
				}
				before = append(before, place)
			}
			g.missing(before)
		}
	}
}

// note takes over what a file has that makes a result depend on more.
func (g *gatherer) note(path string, s surprises) {
	g.c.Shows = g.c.Shows || s.path
	switch {
	case s.other != "":
		g.c.Refused = path + ": " + s.other
	case s.time == "__TIMESTAMP__", s.time != "" && !g.hasEpoch():
		g.c.Refused = path + ": the time of the compile is in the result: " + s.time
	}
}

func (g *gatherer) hasEpoch() bool {
	for _, v := range g.p.variables {
		if strings.HasPrefix(v, "SOURCE_DATE_EPOCH=") {
			return true
		}
	}
	return false
}

// links adds what the linker reads, as far as it is the caller's or depends on
// folders: the libraries of -l, and the language's own.
func (g *gatherer) links() error {
	var all []byte
	for _, path := range g.f.files {
		file, err := g.add(path)
		if err != nil {
			return err
		}
		all = append(all, file.Digest[:]...)
	}
	if g.p.kind != "object" {
		names := append(append([]string(nil), g.f.link...), "c")
		if l := g.p.languages(); l[len(l)-1] == "c++" || l[0] == "c++" {
			names = append(names, "stdc++")
		}
		folders := append(append([]string(nil), g.f.libs...), g.t.Libs...)
		for _, name := range unique(names) {
			digest, err := g.link(name, folders)
			if err != nil {
				return err
			}
			all = append(all, digest...)
		}
	}
	g.c.Links = key.Sum(all)
	return nil
}

// link finds a library where the linker does. One that is nowhere is found out
// by the linker.
func (g *gatherer) link(name string, folders []string) ([]byte, error) {
	names := []string{"lib" + name + ".so", "lib" + name + ".a"}
	if g.f.static {
		names = names[1:]
	}
	if exact, ok := strings.CutPrefix(name, ":"); ok {
		names = []string{exact}
	}
	for _, dir := range folders {
		for _, n := range names {
			path := filepath.Join(dir, n)
			if _, err := os.Stat(path); err == nil {
				file, err := g.add(path)
				if err != nil {
					return nil, err
				}
				return file.Digest[:], nil
			}
			if filepath.IsAbs(path) && keepsAbsent {
				g.c.list.Absent = append(g.c.list.Absent, path)
			}
		}
	}
	return nil, nil
}

// closureOf makes a closure again from what was noted of it.
func closureOf(l *manifest.List) *closure {
	c := &closure{list: l}
	if json.Unmarshal(l.Payload, c) != nil {
		return nil
	}
	return c
}
