// Files that do not count although a command looked at them: those about the machine's load, of
// languages, of Python.

package record

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/core/wildcard"
	"jitcache/observe"
)

// Some files count for less than their content, each for a reason. Everything else counts
// whole. docs/observation.md has the table for users.

// passing are files that tell how busy the machine is and how many processors it has. A
// compiler's result does not depend on that, only its speed. A * stands for any text.
var passing = []string{
	"/proc/meminfo",              // gcc sizes its garbage collector by it
	"/proc/cpuinfo",              // the processor counts by itself (World.CPU)
	"/sys/devices/system/cpu/*",  // how many threads to start
	"/sys/devices/system/node/*", // the same
	"/proc/stat",                 // the same, in older C libraries
	"/proc/loadavg",              // ninja and make
	"/sys/fs/cgroup/*",           // limits of a container: how many threads to start
}

// starting are files at which libraries look whenever a program starts. They count for who asks for
// them in its own right.
var starting = []string{
	"/proc/filesystems",                                  // libselinux looks for its own
	"/proc/sys/vm/overcommit_memory",                     // allocators
	"/proc/sys/kernel/ngroups_max",                       // the C library
	"/proc/sys/kernel/random/boot_id",                    // names of temporary files
	"/sys/kernel/mm/transparent_hugepage/*",              // allocators
	"/sys/fs/selinux", "/selinux", "/etc/selinux/config", // libselinux looks whether it is needed
	"/var/run/nscd/socket", "/run/nscd/socket", // names of users
}

// languages are files with the messages of a language, its letters and their order. What a compiler
// makes does not depend on them, nor what Python does; a shell may name files in that order.
var languages = []string{
	"/usr/lib/locale/locale-archive", "/usr/lib/locale/*/LC_*", "/usr/lib/locale/*.UTF-8", "/usr/lib/locale/*.utf8",
	"/usr/share/locale/locale.alias", "/usr/share/locale/*.mo", "/usr/share/locale-langpack/*.mo",
}

// localTime is the machine's time zone. Python reads it whenever it starts, so it does not
// count for Python. A compiler reads it for __TIMESTAMP__.
const localTime = "/etc/localtime"

// lessThanContent reports whether a name does not count for known programs.
func lessThanContent(path string) bool {
	return (wildcard.MatchesAny(path, passing) || wildcard.MatchesAny(path, starting) || wildcard.MatchesAny(path, languages)) && !strings.Contains(path, "/..") && !strings.Contains(path, "/./")
}

// passes reports whether a name does not count.
func (t *taker) passes(n *observe.Name) bool {
	switch {
	case !lessThanContent(n.Path):
		return false
	case wildcard.MatchesAny(n.Path, languages):
		return n.Programs&^(t.known.known|t.known.python) == 0 || !keepsLanguages
	case wildcard.MatchesAny(n.Path, starting):
		return !t.isAskedFor(n.Path, n.Readers, n.Programs)
	}
	return true
}

// isAskedFor reports whether one of the programs that have looked at a file has done so in its own right,
// and not just one of its libraries: a shell that has read it, or a program one of whose words names it.
func (t *taker) isAskedFor(path string, readers, looked uint64) bool {
	if !keepsAsked {
		return false
	}
	if readers&t.known.shells != 0 {
		return true
	}
	return slices.ContainsFunc(t.run.Report.Programs, func(p observe.Program) bool {
		return looked&bitOf(p.ID) != 0 && slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, path) })
	})
}

// lookers are libraries that look for what they need among the file systems that are mounted:
// libselinux for its own, hwloc for the sets of processors.
var lookers = []string{"libselinux.so.*", "libhwloc.so.*"}

// looksForItself reports whether all programs that have asked what is mounted have done so for no purpose
// of the command's: they are known, or have loaded one of the lookers, or have gone on to the limits of
// their container, which tell how many threads to start.
func (t *taker) looksForItself(u *observe.Used) bool {
	harmless := t.known.known | t.known.wrappers
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if wildcard.MatchesAny(filepath.Base(n.Path), lookers) {
			harmless |= n.Readers
		}
		if wildcard.Matches(n.Path, "/sys/fs/cgroup/*") {
			harmless |= n.Programs
		}
	}
	return !t.isAskedFor(u.Detail, u.Programs, u.Programs) && u.Programs&^harmless == 0
}

// listsInterfaces reports whether a use is Open MPI's wrapper asking for the network
// interfaces, as all of Open MPI's programs do at their start. What it tells the compiler
// does not depend on them.
func (t *taker) listsInterfaces(u *observe.Used) bool {
	// SIOCGIFCONF and its like (linux/sockios.h)
	return u.Programs&^t.known.wrappers == 0 &&
		(u.Detail == "socket" || strings.HasPrefix(u.Detail, "ioctl 0x89") || strings.HasPrefix(u.Detail, "/proc/net/"))
}

// isTemporary reports whether a folder is one for temporary files.
func isTemporary(r *Run, path string) bool {
	path = filepath.Clean(path)
	if slices.Contains([]string{"/tmp", "/var/tmp", "/usr/tmp", "/dev/shm"}, path) {
		return true
	}
	return slices.ContainsFunc(r.Env, func(e string) bool {
		name, value, _ := strings.Cut(e, "=")
		return (name == "TMPDIR" || name == "TMP" || name == "TEMP") && value != "" && filepath.Clean(value) == path
	})
}

// compiledByPython is a folder that appears beside sources when any Python imports one of
// them. Python lists the folders that it imports from, and ignores that name.
const compiledByPython = "__pycache__"

// IsScratch reports whether any process may write a file at any time: it is a .pyc that
// Python keeps beside a source.
func IsScratch(path string) bool {
	folder, name := split(path)
	// While Python writes one, a number follows the name.
	stem, number, draft := strings.Cut(name, ".pyc")
	return name == compiledByPython || filepath.Base(folder) == compiledByPython && draft && stem != "" && strings.Trim(number, ".0123456789") == ""
}

// ofPython reports whether a name is a .pyc that stands for its source. The source counts
// then, and the .pyc does not. It must have been looked at by Python alone, beside its source,
// and hold the source's time and size, which Python compares. A .pyc without a source, or with
// its hash, counts itself.
func (t *taker) ofPython(n *observe.Name) bool {
	if n.Programs&^t.known.python != 0 && keepsCompiled || t.compilesSources() || n.Statted&n.Asked != 0 {
		return false
	}
	folder, name := split(n.Path)
	if filepath.Base(folder) != compiledByPython {
		return name == compiledByPython && n.Mode&unix.S_IFMT != unix.S_IFREG
	}
	stem, _, ok := strings.Cut(name, ".")
	if !ok || !strings.Contains(name, ".pyc") {
		return false
	}
	if n.Mode != 0 && n.Bits&observe.Read != 0 {
		head, _, err := readAll(n.Path, 64<<20)
		if err != nil || len(head) < 16 || head[4]|head[5]|head[6]|head[7] != 0 {
			return false
		}
	}
	return t.sourcesOfPython()[filepath.Dir(folder)+"/"+stem+".py"]
}

// sourcesOfPython returns the sources of Python that were looked at.
func (t *taker) sourcesOfPython() map[string]bool {
	if t.pythons == nil {
		t.pythons = map[string]bool{}
		for i := range t.run.Report.Names {
			if n := &t.run.Report.Names[i]; n.Mode != 0 && strings.HasSuffix(n.Path, ".py") {
				t.pythons[n.Path] = true
			}
		}
	}
	return t.pythons
}

// isForLoader reports whether nobody but the loader has read its cache. A program may read it for
// itself: ldconfig -p prints all of it, and scripts look for libraries in it.
func (t *taker) isForLoader(n *observe.Name) bool { return n.Readers == 0 || !keepsPrinted }

// loader fills in the digest of the loader's cache, now that all libraries are known.
func (t *taker) loader() error {
	for i := range t.list.Files {
		f := &t.list.Files[i]
		if f.Flags&Loader == 0 {
			continue
		}
		libraries := t.list.libraries()
		for path := range t.absent {
			if _, name := split(path); strings.Contains(name, ".so") {
				libraries[name] = true
			}
		}
		digest, stamp, err := rememberedLoaderDigest(t.full(f.Path), &f.Stamp, libraries)
		if err != nil || !stamp.Same(&f.Stamp) {
			return request.Refuse(f.Path, "changed during the run")
		}
		f.Digest = digest
	}
	return nil
}
