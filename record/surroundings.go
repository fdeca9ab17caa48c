package record

import (
	"encoding/binary"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	_ "jitcache/core/limits" // the limits are those of the caller
	"jitcache/observe"
	"jitcache/record/cpu"
)

// Surroundings are the process that asks, beside its files. They are for one
// goroutine.
type Surroundings struct {
	// Dir is the folder that the command runs in; paths in lists may be relative to it.
	// "" is that of the process.
	Dir string
	Env []string // NAME=VALUE, as the command would get it
	// Environment is, if it is not nil, in place of Env.
	Environment *Environment
	// Places are where the places of lists are now.
	Places []Place
	// Notes is where digests of large files are remembered; may be nil.
	Notes Notes

	known    map[string][]Variable // those that count, by rule and what counts beside
	contents *digests
}

// Notes are where small things are remembered from one process to the next. They
// may forget.
type Notes interface {
	// LoadNote returns what was noted under a key, nil if nothing is there.
	LoadNote(id *key.ID) []byte
	// LayerNotes gives what others have noted under a key, whose notes are only read.
	LayerNotes(id *key.ID) iter.Seq[[]byte]
	// SaveNote replaces it.
	SaveNote(k *key.Key, data []byte)
	// UsedNote says that what is noted there was of use.
	UsedNote(id *key.ID)
	// ShareNote is SaveNote for what other machines may use too.
	ShareNote(k *key.Key, data []byte)
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

// differs says in what the surroundings are another world, "" for nothing.
func (s *Surroundings) differs(w *World) string {
	if w.Dir != "" && w.Dir != placed(realDir(s.Dir), s.Places) {
		return s.Dir + ": another folder to work in"
	}
	if d := difference(w.Variables, s.variables(w.Rule, w.Also)); d != "" {
		return "environment: " + d
	}
	none := key.Digest{}
	switch {
	case w.CPU != none && w.CPU != Processor():
		return "another processor"
	case w.Host != none && w.Host != host():
		return "another host"
	case w.Limits != none && w.Limits != limits(w.Asked):
		return "other limits of the process (ulimit)"
	}
	return ""
}

// Parts returns all that a program could ask of the process, by aspect, but for
// files and those variables that no list has.
func (s *Surroundings) Parts() []Part {
	var environment encoder
	for _, v := range s.variables(AllVariables, []string{"TMPDIR"}) {
		environment.text(v.Name)
		environment.b = append(environment.b, v.Value[:]...)
	}
	return []Part{
		{"environment", key.Sum(environment.b)},
		{"processor", Processor()},
		{"folder", key.Sum([]byte(realDir(s.Dir)))},
		{"limits", limits(allLimits)},
	}
}

// Processor is the digest of what the processor is to a compiler.
func Processor() key.Digest { return key.Sum(cpu.Description()) }

// realDir returns a folder without links, which is what getcwd says of it; "" is that of
// the process.
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

// host is the digest of what uname says.
func host() key.Digest {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return key.Sum(nil)
	}
	var all []byte
	for _, field := range [][65]byte{u.Sysname, u.Nodename, u.Release, u.Version, u.Machine} {
		all = append(append(all, unix.ByteSliceToString(field[:])...), 0)
	}
	return key.Sum(all)
}

// limited are the limits that a program can run into, or ask for to decide how it works.
// Those on memory that is locked, on messages, signals and processes follow from the
// machine, and are left out.
var limited = []int{
	unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_DATA, unix.RLIMIT_STACK, unix.RLIMIT_CORE, unix.RLIMIT_AS, unix.RLIMIT_NOFILE,
}

// allLimits is a mask of limits with all bits set.
const allLimits = ^uint64(0)

// limits is the digest of those of them that are in a mask, by their numbers.
func limits(asked uint64) key.Digest {
	var all []byte
	for _, which := range limited {
		var l unix.Rlimit
		if asked&(1<<which) != 0 && unix.Getrlimit(which, &l) == nil {
			all = binary.LittleEndian.AppendUint64(all, l.Cur)
			all = binary.LittleEndian.AppendUint64(all, l.Max)
		}
	}
	return key.Sum(all)
}

// askedLimits returns a mask of the limits that were asked for.
func (t *taker) askedLimits() (mask uint64) {
	for i := range t.run.Report.Uses {
		u := &t.run.Report.Uses[i]
		if u.Use != observe.UseLimits {
			continue
		}
		which, err := strconv.ParseUint(u.Detail, 10, 6)
		if err != nil {
			return allLimits
		}
		mask |= 1 << which
	}
	of := uint64(0)
	for _, which := range limited {
		of |= 1 << which
	}
	return mask & of
}
