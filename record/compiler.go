// Lists of a compiler that lives on in a process of its own (cuda/worker).

package record

import (
	"slices"
	"strings"
	"time"

	"jitcache/observe"
)

// Compiler describes a run of one of our own programs that has a compiler inside and
// lives on (package cuda/worker). The variables that it asks for are known, because we
// hand them to it. Its owner has looked through the text for the time of day.
type Compiler struct {
	// Asked are the variables that it has asked for, or was given.
	Asked []string
	// Startup are names that were looked at before anything was compiled: the loader, the
	// C library, where they were looked for, and the loaded libraries. A program that
	// compiles in its own process maps them once and sees no later change. So a process
	// that has compared them once compares them again only once a second. A false value
	// counts as absent.
	Startup map[string]bool
}

// believed is how long the names in Startup are taken to be unchanged.
const believed = time.Second

func (c *Compiler) began(path string) bool { return c != nil && c.Startup[path] }

// folders returns the names of the folder that the run was in: its path, and PWD.
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
// looked at. Its existence tells the compiler nothing.
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

// Clone returns a copy that shares nothing that Check changes. A worker keeps a clone of
// the list that the set of its request holds.
func (l *List) Clone() *List {
	c := *l
	c.Files, c.Folders = slices.Clone(l.Files), slices.Clone(l.Folders)
	return &c
}

// Settled reports whether everything in the list is unchanged, and whether every later
// change would show: the stamps are those that were taken when the files were read, and
// are old enough to prove something.
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
