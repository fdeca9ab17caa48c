// Take: makes a list from the report of a run.

package record

import (
	"bytes"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
)

// Run is a command that was observed, and what its owner knows of it.
type Run struct {
	Report *observe.Report
	// Dir and Env are what it ran in, as Surroundings have them.
	Dir    string
	Env    []string
	Limits *observe.Limits
	// Private is a folder that was made for this run, and is gone after it: what is
	// in it follows from the request. "" if there is none.
	Private string
	// Leaves reports whether the command may leave a file behind, by its path
	// without links; nil: it may not.
	Leaves func(path string) bool
	Notes  Notes
	// Unknown is the rule for a tree in which a program is not known, by what the
	// command was given; 0: AllVariables.
	Unknown Rule
	// Also are variables that count whatever the rule.
	Also []string
	// Places are paths whose names mean nothing: the caller invents them.
	Places []Place
	// InPlace: the command's outputs stay where it puts them. What stood there before
	// counts then, unless only known programs can have looked.
	InPlace bool
	// Timeless: the command's program does not depend on modification times.
	Timeless bool
	// Hermetic: the command was shown one time for all files.
	Hermetic bool
	// Terminal: the command was told that it prints to a terminal.
	Terminal bool
	// Outputs says how the files that the command has left came to their places, by their paths
	// without links. Take fills it.
	Outputs map[string]Output
	// Compiler is set if the program is one of our own with a compiler inside.
	Compiler *Compiler
}

// Take makes the list of a run. Everything that was looked at is in it, or the
// error, a *request.Refused, says why the result cannot be kept.
func (r *Run) Take() (*List, error) {
	t := taker{
		run: r, list: &List{}, folders: map[string]int{}, absent: map[string]bool{}, made: map[string]bool{},
		reals: map[string]string{}, included: map[string]bool{}, overwritten: map[string]bool{}, removed: map[string]bool{},
	}
	for _, f := range r.Report.Files {
		t.made[f.Path] = true
	}
	t.status.Read = now()
	if err := t.all(); err != nil {
		return nil, err
	}
	return t.list, nil
}

// taker turns a report into a list.
type taker struct {
	run     *Run
	list    *List
	status  status
	digests digests
	known   programs
	folders map[string]int  // places in list.Folders
	absent  map[string]bool // paths that are in there
	pythons map[string]bool // sources of Python that were looked at
	// A file that was read asks for this processor; one asks for a variable.
	native, variable bool
	comparesTimes    bool // a source compares modification times, see pragmas.go

	compiles *bool           // whether py_compile was loaded, once known
	compiled map[string]bool // the sources that Python imports or runs, without the .py

	foreign string            // a library that makes a program one that is not known
	needed  map[string]bool   // the names of libraries that known programs, or their libraries, name
	made    map[string]bool   // files that the command wrote, by their paths without links
	reals   map[string]string // folders to their paths without links, "" for absent ones
	lookup  status            // of the last part of such a path
	beside  bool              // a path through the private folder led out of it
	zone    uint64            // programs that have turned a time into a date
	// Files that the command wrote, by their paths without links: what stood there was read before; or
	// was looked at by a program that removes it unless it is empty.
	overwritten, removed map[string]bool
	included             map[string]bool // files whose identity with others may count, see twins.go
}

func (t *taker) all() error {
	rep := t.run.Report
	t.digests.notes = t.run.Notes
	switch {
	case rep.Unobserved:
		return request.Refuse(t.run.command(), "could not be observed")
	case rep.Outlived:
		return request.Refuse(t.run.command(), "left a process running")
	}
	t.known = t.programs()
	t.dates()
	if err := t.uses(); err != nil {
		return err
	}
	if err := t.written(); err != nil {
		return err
	}
	for i := range rep.Names {
		if err := t.name(&rep.Names[i]); err != nil {
			return err
		}
	}
	t.scratch()
	if launched.places != nil && t.run.InPlace {
		launched.places(t)
	}
	if err := t.loader(); err != nil {
		return err
	}
	if err := t.fold(); err != nil {
		return err
	}
	t.twins()
	t.textual()
	t.dependencies()
	t.world()
	if err := t.place(); err != nil {
		return err
	}
	t.sort()
	return nil
}

func (r *Run) command() string {
	if len(r.Report.Programs) == 0 {
		return "command"
	}
	return filepath.Base(r.Report.Programs[0].Path)
}

// ---- names

// forms returns the paths under which a name is kept, relative or absolute as the
// command used it.
func (t *taker) forms(n *observe.Name) []string {
	return t.formsOf(n.Path, n.Bits&observe.Relative != 0, n.Bits&observe.Absolute != 0)
}

func (t *taker) formsOf(path string, relative, absolute bool) []string {
	var all []string
	if relative {
		if rest, ok := strings.CutPrefix(path, t.run.Dir+"/"); ok && rest != "" {
			all = append(all, rest)
		} else {
			all = append(all, path)
		}
	}
	if absolute || len(all) == 0 {
		all = append(all, path)
	}
	return slices.Compact(all)
}

func (t *taker) name(n *observe.Name) error {
	if !keepsChildren && n.Programs&bitOf(t.run.Report.Programs[0].ID) == 0 {
		return nil
	}
	if t.private(n.Path) {
		path, err := t.outside(n.Path)
		if err != nil || path == "" {
			return err
		}
		// TMPDIR decides where such a path leads, so that variable counts (also).
		moved := *n
		moved.Path, moved.Bits = path, n.Bits&^observe.Relative|observe.Absolute
		n, t.beside = &moved, true
	} else if t.throughMade(n) {
		return request.Refuse(n.Path, "is reached through a link that the command made")
	}
	if t.passes(n) || t.ofPython(n) || t.isFolder(n) || n.Path == localTime && n.Programs&^t.known.python == 0 {
		return nil
	}
	if n.Bits&observe.Made != 0 {
		return t.replaced(n)
	}
	for _, path := range t.forms(n) {
		if err := t.kept(n, path); err != nil {
			return err
		}
	}
	return t.permitted(n, true)
}

func (t *taker) kept(n *observe.Name, path string) error {
	if n.Bits&observe.Text != 0 && keepsTexts {
		t.list.Links = append(t.list.Links, Link{path, n.Text})
	}
	if n.Bits&(observe.Looked|observe.Read|observe.Ran|observe.Listed) == 0 {
		return nil
	}
	if n.Bits&(observe.Read|observe.Ran|observe.Listed) == 0 && n.Mode != 0 && !keepsLooked {
		return nil
	}
	switch n.Mode & unix.S_IFMT {
	case 0:
		if n.Errno == syscall.ENOENT {
			t.absent[path] = true
			return nil
		}
		t.list.Failures = append(t.list.Failures, Failure{path, n.Errno})
	case unix.S_IFREG:
		return t.file(n, path)
	case unix.S_IFDIR:
		return t.folder(n, path)
	default:
		return t.special(n, path)
	}
	return nil
}

func (t *taker) file(n *observe.Name, path string) error {
	if n.Errno != 0 {
		if n.Statted&^t.known.blind != 0 {
			return request.Refuse(n.Path, "cannot be read, but its size or time was asked for")
		}
		t.list.Failures = append(t.list.Failures, Failure{path, n.Errno})
		return nil
	}
	f := File{Path: path, Mode: n.Mode}
	if n.Bits&observe.Plain != 0 {
		f.Flags |= Plain
	}
	if t.isDated(n) {
		f.Flags |= Dated
	}
	if t.isOwned(n) {
		f.Flags |= Owned
	}
	if path == loaderCache && t.isForLoader(n) {
		f.Flags = f.Flags&^(Dated|Owned) | Loader
	}
	if t.run.Compiler.began(n.Path) {
		f.Flags |= Startup
	}
	if t.isOnlyLinked(n) {
		f.Flags |= Linked
	}
	if n.Bits&observe.Large != 0 {
		return request.Refuse(n.Path, "modified just before it was read, and too large to copy")
	}
	full := ended(n.Path)
	if errno := t.status.At(full, 0); errno != 0 {
		return request.Refuse(n.Path, "no longer exists")
	}
	if f.Flags&Owned != 0 {
		f.Owner = t.status.Owner()
	}
	was := seen(&n.Stamp)
	was.Mount = t.status.Stamp.Mount
	if !was.Same(&t.status.Stamp) || n.Stamp.Mount != t.status.Unique() {
		return request.Refuse(n.Path, "changed during the run")
	}
	f.Stamp = was
	if launched.makerFor != nil {
		if maker, known := launched.makerFor(t, n, &was); known {
			f.Flags |= ByMaker
			f.Digest = maker
			t.list.Files = append(t.list.Files, f)
			return nil
		}
	}
	var err error
	switch {
	case f.Flags&Loader != 0: // when all libraries are known
	case n.Bits&observe.Sent != 0:
		f.Digest = key.Sum(n.Content)
		if !was.Proves() {
			if now, _, err := contentOf(n.Path); err != nil || now != f.Digest {
				return request.Refuse(n.Path, "changed during the run")
			}
		}
		t.findPragma(n, f.Digest, n.Content)
		t.asks(n, n.Content)
	default:
		if f.Digest, err = t.content(n, &was); err != nil {
			return err
		}
	}
	if t.compares(n) {
		t.included[path] = true
	}
	t.list.Files = append(t.list.Files, f)
	return nil
}

// content returns the digest of a file, or refuses one that has changed since the
// command looked at it.
func (t *taker) content(n *observe.Name, was *Stamp) (key.Digest, error) {
	d, stamp, err := t.digests.of(n.Path, was)
	if err != nil {
		return d, request.Refuse(n.Path, err.Error())
	}
	if !stamp.Same(was) {
		return d, request.Refuse(n.Path, "changed during the run")
	}
	t.findPragma(n, d, t.digests.last)
	if t.mayAsk(n) {
		if data, _, err := readAll(n.Path, askable); err == nil {
			t.asks(n, data)
		}
	}
	return d, nil
}

// An option asks a compiler for this processor (-march=native). It may stand in a file
// of options, of specs or of a configuration. Such files are at most this large.
const askable = 1 << 20

func (t *taker) mayAsk(n *observe.Name) bool {
	return !(t.native && t.variable) && n.Bits&observe.Read != 0 && n.Stamp.Size <= askable && n.Programs&t.known.drivers != 0
}

func (t *taker) asks(n *observe.Name, data []byte) {
	if !t.mayAsk(n) || bytes.HasPrefix(data, []byte("\x7fELF")) {
		return
	}
	t.native = t.native || saysNative(data)
	// A file of specs may ask for any variable, by the word getenv. clang and linkers have
	// no specs, and the sources and libraries that they read may hold the word for other
	// reasons. A file with a NUL in it is no text.
	if n.Readers&t.known.drivers&^(t.known.clang|t.known.linkers) != 0 && keepsSpecs {
		t.variable = t.variable || bytes.Contains(data, []byte("getenv")) && bytes.IndexByte(data, 0) < 0
	}
}

// saysNative reports whether a file of options has the word native. Quotes and
// backslashes may stand anywhere in it.
func saysNative(data []byte) bool {
	plain := bytes.Map(func(r rune) rune {
		if strings.ContainsRune("\\\"'\n\r", r) {
			return -1
		}
		return r
	}, data)
	return bytes.Contains(plain, []byte("native"))
}

func seen(s *observe.Stamp) Stamp {
	return Stamp{Dev: s.Dev, Ino: s.Ino, Size: s.Size, Mtime: s.Mtime, Ctime: s.Ctime, Read: s.Taken}
}

func (t *taker) folder(n *observe.Name, path string) error {
	// The folder for temporary files is no input, as long as only known programs and those
	// that clear it have listed it, and no compiler looks for headers in it: drivers ask
	// whether they can put files there.
	listers := n.Readers
	if listers == 0 {
		listers = n.Programs
	}
	if isTemporary(t.run, path) && n.Statted&t.known.compilers&^(t.known.drivers&^t.known.clang) == 0 &&
		(n.Bits&observe.Listed == 0 || listers&^(t.known.clearers|t.known.known) == 0) {
		return nil
	}
	if t.permits(n) {
		t.list.Kinds = append(t.list.Kinds, Kind{Path: path, Mode: n.Mode, Flags: Permissions})
	}
	f := t.folderAt(path)
	switch began := t.run.Compiler.began(n.Path) && n.Bits&observe.Listed == 0; {
	case !began:
		f.Flags &^= Began
	case f.Flags == 0:
		f.Flags = Began
	}
	f.Flags |= Exists
	if t.isCompared(n) {
		if err := t.compareFolder(n, f); err != nil {
			return err
		}
	}
	if n.Bits&observe.Plain != 0 {
		f.Flags |= NoLink
	}
	if n.Bits&observe.Listed != 0 && keepsListings && !t.holdsCrates(n.Path, listers) {
		f.Flags |= Listed
		f.Except = t.madeIn(path)
		if n.Programs&^t.known.python == 0 {
			f.Except = append(f.Except, compiledByPython)
		}
		f.Names = namesDigest(slices.Clone(n.Names), f.Except)
		if s := seen(&n.Stamp); f.Stamp == (Stamp{}) {
			f.Stamp = s
			f.Stamp.Mount = noMount // until it is looked at again
		}
	}
	return nil
}

// permits reports whether the permissions of a folder count. They do if a program has asked
// for them (cp copies them), or has opened the folder and may have asked, which is not seen.
// Known programs do not ask. Shells list folders only for their names, and Python stats
// folders only to resolve links.
func (t *taker) permits(n *observe.Name) bool {
	asked := n.Statted&^(t.known.python&^n.Asked) | n.Readers&^t.known.shells
	return asked&t.known.all&^t.known.blind != 0
}

// folderAt returns the entry of a folder, making one if there is none.
func (t *taker) folderAt(path string) *Folder {
	i, ok := t.folders[path]
	if !ok {
		i = len(t.list.Folders)
		t.folders[path] = i
		t.list.Folders = append(t.list.Folders, Folder{Path: path, Stamp: Stamp{Mount: noMount}})
	}
	return &t.list.Folders[i]
}

// sort puts everything into an order that is the same for the same world: paths
// next to each other share most of their bytes.
func (t *taker) sort() {
	l := t.list
	// Five instances of slices.SortFunc would be 2 % of the library.
	sort.Slice(l.Files, func(i, j int) bool { return l.Files[i].Path < l.Files[j].Path })
	sort.Slice(l.Folders, func(i, j int) bool { return l.Folders[i].Path < l.Folders[j].Path })
	sort.Slice(l.Links, func(i, j int) bool { return l.Links[i].Path < l.Links[j].Path })
	sort.Slice(l.Failures, func(i, j int) bool { return l.Failures[i].Path < l.Failures[j].Path })
	sortPermits(l.Permits)
	sort.Slice(l.Kinds, func(i, j int) bool { return l.Kinds[i].Path < l.Kinds[j].Path })
	for i := range l.Folders {
		slices.Sort(l.Folders[i].Absent)
		slices.Sort(l.Folders[i].Except)
	}
}
