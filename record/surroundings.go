// Surroundings: what counts of the process that asks, beside files.

package record

import (
	"iter"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/observe"
	"jitcache/record/cpu"
)

// Surroundings describe the process that asks: what counts beside files. They are for one
// goroutine.
type Surroundings struct {
	// Dir is the folder that the command runs in; paths in lists may be relative to it.
	// "" is that of the process.
	Dir string
	Env []string // NAME=VALUE, as the command would get it
	// Environment is, if it is not nil, in place of Env.
	Environment *Environment
	// Places are the present paths of the places that lists name.
	Places []Place
	// Limits are, if they are not nil, those of the command in place of this process's.
	Limits *observe.Limits
	// Notes is where digests of large files are remembered; may be nil.
	Notes Notes

	known    map[string][]Variable // those that count, by rule and what counts beside
	contents *digests
	differed string // the path in which the list that was compared last differs, if it was a path
}

// Notes remember small things from one process to the next. They may forget.
type Notes interface {
	// LoadNote returns what was noted under a key, nil if nothing is there.
	LoadNote(id *key.ID) []byte
	// LayerNotes yields what was noted under a key in the layers, which are only read.
	LayerNotes(id *key.ID) iter.Seq[[]byte]
	// SaveNote replaces it.
	SaveNote(k *key.Key, data []byte)
	// UsedNote says that a note was useful, so that it is evicted late.
	UsedNote(id *key.ID)
	// ShareNote is SaveNote for what other machines may use too.
	ShareNote(k *key.Key, data []byte)
	// RestNote says that what is noted under a key from now on rests on what is noted under another.
	RestNote(id, on *key.ID)
	// LockNote keeps others from changing what belongs to a note, until unlock is called. It waits for
	// them, but not for long: then both may go on.
	LockNote(id *key.ID) (unlock func())
	// Layered reports whether there may be notes in layers.
	Layered() bool
}

func (s *Surroundings) digests() *digests {
	if s.contents == nil {
		s.contents = &digests{notes: s.Notes}
	}
	return s.contents
}

// all returns the variables, NAME=VALUE.
func (s *Surroundings) all() []string {
	if s.Environment != nil {
		return s.Environment.All()
	}
	return s.Env
}

func (s *Surroundings) variables(r Rule, also []string) []Variable {
	if s.Environment != nil && len(s.Places) == 0 {
		return s.Environment.variables(r, also)
	}
	known := string(rune(r)) + strings.Join(also, "\x00")
	is, ok := s.known[known]
	if !ok {
		if s.known == nil {
			s.known = map[string][]Variable{}
		}
		is = r.variables(s.all(), also, s.Places)
		s.known[known] = is
	}
	return is
}

// differs says how the surroundings differ from a world, "" if they do not.
func (s *Surroundings) differs(w *World) string {
	// A folder whose own name counts, although it is a place, begins with a slash (place).
	if w.Dir != "" && w.Dir != placed(realDir(s.Dir), s.Places) && w.Dir != realDir(s.Dir) {
		return s.Dir + ": is another working folder"
	}
	was, is := w.Variables, s.variables(w.Rule, w.Also)
	if w.bySearch() {
		if d := s.searchDiffers(w, was, is); d != "" {
			return "environment: " + d
		}
		was, is = withoutPath(was), withoutPath(is)
	}
	if d := difference(was, is); d != "" {
		return "environment: " + d
	}
	none := key.Digest{}
	switch {
	case w.CPU != none && w.CPU != Processor():
		return "another processor"
	case w.Host != none && w.Host != host():
		return "another host"
	case w.Limits != none && w.Limits != limits(w.Asked, s.Limits):
		if launched.limits != nil {
			return launched.limits(w.Asked)
		}
		return "limits or umask changed"
	}
	return ""
}

// Parts returns everything that a program could ask of the process, by aspect, without
// files and without the variables that never count.
func (s *Surroundings) Parts() []Part {
	mask := uint64(ownLimits)
	if keepsUmask {
		mask |= theUmask
	}
	var environment encoder
	for _, v := range s.variables(AllVariables, []string{"TMPDIR"}) {
		environment.text(v.Name)
		environment.b = append(environment.b, v.Value[:]...)
	}
	return []Part{
		{"environment", key.Sum(environment.b)},
		{"processor", Processor()},
		{"folder", key.Sum([]byte(realDir(s.Dir)))},
		{"limits", limits(mask, s.Limits)},
	}
}

// Processor is the digest of what a compiler can learn of the processor.
func Processor() key.Digest { return key.Sum(cpu.Description()) }

// realDir returns a folder's path without links, as getcwd would; "" is the folder of the
// process.
func realDir(dir string) string {
	if dir == "" {
		// Not os.Getwd, which says what PWD does.
		dir, _ = unix.Getwd()
		return dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// host is the digest of uname(2).
func host() key.Digest {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return key.Sum(nil)
	}
	var all []byte
	for _, field := range [][65]byte{u.Sysname, u.Nodename, u.Release, u.Version, u.Machine, u.Domainname} {
		all = append(append(all, unix.ByteSliceToString(field[:])...), 0)
	}
	return key.Sum(all)
}
