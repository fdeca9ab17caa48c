package record

import (
	"bytes"
	"encoding/binary"
	"iter"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	_ "jitcache/core/limits" // the limits are those of the caller
	"jitcache/core/proc"
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
	// Notes is where digests of large files are remembered; may be nil.
	Notes Notes

	known    map[string][]Variable // those that count, by rule and what counts beside
	contents *digests
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
		return "other limits of the process (ulimit), or another umask"
	}
	return ""
}

// Parts returns everything that a program could ask of the process, by aspect, without
// files and without the variables that never count.
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
		{"limits", limits(ownLimits)},
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

// Masks of limits, by their numbers: those that a single process can run into, and all of
// them, as in /proc/self/limits.
const (
	ownLimits = 1<<unix.RLIMIT_CPU | 1<<unix.RLIMIT_FSIZE | 1<<unix.RLIMIT_DATA | 1<<unix.RLIMIT_STACK |
		1<<unix.RLIMIT_CORE | 1<<unix.RLIMIT_AS | 1<<unix.RLIMIT_NOFILE
	allLimits = 1<<howManyLimits - 1

	howManyLimits = 16 // RLIM_NLIMITS
)

// theUmask stands for the umask in a mask of limits.
const theUmask = 1 << 63

// limits is the digest of the limits in a mask.
func limits(asked uint64) key.Digest {
	var all []byte
	for which := range howManyLimits {
		var l unix.Rlimit
		if asked&(1<<which) != 0 && unix.Getrlimit(which, &l) == nil {
			all = binary.LittleEndian.AppendUint64(all, l.Cur)
			all = binary.LittleEndian.AppendUint64(all, l.Max)
		}
	}
	if asked&theUmask != 0 {
		all = append(all, umask()...)
	}
	return key.Sum(all)
}

// ownStatus is where the kernel tells the umask; a test replaces it.
var ownStatus = "/proc/self/status"

// umask returns the umask as the kernel tells it, without changing it. Before Linux 4.7 the
// kernel tells nothing; a command that asks for the umask is refused there.
func umask() []byte {
	said, _ := proc.Read(ownStatus, 16<<10)
	_, rest, _ := bytes.Cut(said, []byte("\nUmask:\t"))
	mask, _, _ := bytes.Cut(rest, []byte("\n"))
	return mask
}

// askedLimits returns the mask of the limits that were asked for. The umask of a launched
// command is in its request already.
func (t *taker) askedLimits() (mask uint64) {
	for i := range t.run.Report.Uses {
		u := &t.run.Report.Uses[i]
		switch {
		case u.Use == observe.UseUmask:
			if !t.run.InPlace && keepsUmask && t.heedsUmask(u) {
				mask |= theUmask
			}
		case u.Use == observe.UseLimits && keepsLimits:
			mask |= t.limitsOf(u)
		}
	}
	return mask
}

// heedsUmask reports whether a program that may depend on the umask has asked for it.
// Linkers ask in order to make their output executable for everybody who may read it; that
// does not count.
func (t *taker) heedsUmask(u *observe.Used) bool { return u.Programs&^t.known.known != 0 }

func (t *taker) limitsOf(u *observe.Used) uint64 {
	number, again, _ := strings.Cut(u.Detail, " ")
	which, err := strconv.ParseUint(number, 10, 6)
	switch {
	case err != nil:
		return allLimits
	// bash asks once, whenever it starts, how many processes it may have.
	case which == unix.RLIMIT_NPROC && again == "" && u.Programs&^t.bash() == 0:
		return 0
	}
	return 1 << which & allLimits
}

// bash returns the shells that are bash.
func (t *taker) bash() uint64 {
	mask := t.known.shells
	for i := range t.run.Report.Programs {
		if p := &t.run.Report.Programs[i]; plainName(p.Path) != "bash" {
			mask &^= bitOf(p.ID)
		}
	}
	return mask
}
