package record

import (
	"slices"
	"strings"
	"time"

	"jitcache/observe"
)

// Compiler is what is known of a run of one of our own programs, which lives on with a
// compiler in it (package cuda/worker). It is given what it asks for, so that is known;
// for the time of day its owner has looked through what it compiles.
type Compiler struct {
	// Asked are the variables that it has asked for, or was given.
	Asked []string
	// Startup are names that were looked at before anything was compiled, the loader and
	// the C library and where they were looked for, and the libraries that are loaded. A
	// program that compiles by itself has them mapped since its own start, or its first
	// compile, and sees no change of them; so a process that has compared them once need
	// do so once a second. A false value is as good as none.
	Startup map[string]bool
}

// believed is for how long what a compiler began with is taken to be the same.
const believed = time.Second

func (c *Compiler) began(path string) bool { return c != nil && c.Startup[path] }

// folders are the names of the folder that the run was in: its own, and what PWD calls
// it.
func (r *Run) folders() []string {
	names := []string{r.Dir}
	for _, e := range r.Env {
		if value, ok := strings.CutPrefix(e, "PWD="); ok && value != "" && value[0] == '/' {
			names = append(names, strings.TrimRight(value, "/"))
		}
	}
	return names
}

// isFolder reports whether a name is the folder that a compiler works in, and was only
// looked at: that it is there says nothing.
func (t *taker) isFolder(n *observe.Name) bool {
	if c := t.run.Compiler; c == nil || n.Bits&(observe.Read|observe.Listed|observe.Text) != 0 {
		return false
	}
	path := strings.TrimRight(strings.TrimSuffix(n.Path, "/."), "/")
	return slices.Contains(t.run.folders(), path)
}

// compilerWorld notes what counts beside files.
func (t *taker) compilerWorld(w *World) {
	c := t.run.Compiler
	w.Rule, w.Also = NamedVariables, slices.Clone(c.Asked)
	if t.used(observe.UseFolder, ^uint64(0)) {
		w.Dir = t.run.Dir
	}
	slices.Sort(w.Also)
	w.Also = slices.Compact(w.Also)
	s := Surroundings{Env: t.run.Env}
	w.Variables = s.variables(w.Rule, w.Also)
	if t.used(observe.UseHost, ^uint64(0)) {
		w.Host = host()
	}
}

// Clone returns a copy that shares nothing a check changes: who keeps a list beside one
// that others keep, a worker beside the set of its request, keeps a clone.
func (l *List) Clone() *List {
	c := *l
	c.Files, c.Folders = slices.Clone(l.Files), slices.Clone(l.Folders)
	return &c
}

// Settled reports whether everything in the list is what it was, and would show it if
// it changed from now on: the stamps are those that were taken when the files were
// read, and old enough to prove something.
func (l *List) Settled(now *Surroundings) bool {
	before := make([]Stamp, len(l.Files))
	for i := range l.Files {
		before[i] = l.Files[i].Stamp
	}
	l.began = 0
	if state, _ := l.Check(now); state == Changed {
		return false
	}
	for i := range l.Files {
		if s := &l.Files[i].Stamp; !s.Proves() || !s.Same(&before[i]) {
			return false
		}
	}
	return true
}
