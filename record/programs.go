package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A program is known if its variables are documented, and it obeys no others
// (variables.go): the compilers, assemblers and linkers below. What is run and is
// not one of them, a script above all, may obey anything.
//
// Known programs have two more things in common. They look at files to find them,
// and ask for no modification times; and of the clock they ask for the date only,
// by time(2), where __DATE__ or __TIME__ is used (measured for gcc, clang and
// gfortran; other clocks they read for names of temporary files, and for what they
// report with -ftime-report).

// family is one kind of known program: what its file may be called, without a
// target in front and a version behind, and a text that is in the file. A wrapper
// of the same name does not have the text, or is a script.
type family struct {
	names  []string
	marker string
}

var families = []family{
	{[]string{"gcc", "g++", "c++", "cc", "cpp", "gfortran", "cc1", "cc1plus", "f951", "lto1", "collect2", "lto-wrapper", "c99", "c89"}, "COLLECT_GCC"},
	{[]string{"as", "gas"}, "GNU assembler"},
	{[]string{"ld", "ld.bfd", "ld.gold", "gold"}, "COLLECT_NO_DEMANGLE"},
	{[]string{"clang", "clang++"}, "CCC_OVERRIDE_OPTIONS"},
	{[]string{"lld", "ld.lld"}, "LLD_REPRODUCE"},
	{[]string{"mold"}, "MOLD_"},
	// Open MPI's wrapper, and MPICH's, which is a script that the shell runs.
	{[]string{"opal_wrapper", "mpicc", "mpicxx", "mpic++", "mpifort"}, "OMPI_"},
	// The launcher, which only becomes its command where it is itself observed.
	{[]string{"jitcache"}, "jitcache-observe: requests"},
}

// plainName returns what a program's file is called without the target in front,
// as in x86_64-linux-gnu-gcc, and the version behind.
func plainName(path string) string {
	name := filepath.Base(path)
	for {
		cut := strings.TrimRight(name, "0123456789.")
		if cut == name || !strings.HasSuffix(cut, "-") {
			break
		}
		name = strings.TrimSuffix(cut, "-")
	}
	for _, f := range families {
		for _, n := range f.names {
			if name == n || strings.HasSuffix(name, "-"+n) {
				return n
			}
		}
	}
	return name
}

// isKnown reports whether a file is a known program.
func isKnown(path string) bool {
	name := plainName(path)
	for _, f := range families {
		for _, n := range f.names {
			if n == name && has(path, f.marker) {
				return true
			}
		}
	}
	return false
}

// IsKnown reports whether what is run by a path is a known program, or a known
// script.
func IsKnown(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil && isKnown(real) {
		return true
	}
	text, _, err := readAll(path, 1<<20)
	return err == nil && isKnownScript(text)
}

// has reports whether an executable of the machine has a text in it.
func has(path, text string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < 4 || info.Size() > 1<<30 {
		return false
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer unix.Munmap(b)
	return string(b[:4]) == "\x7fELF" && bytes.Contains(b, []byte(text))
}

// MPICH's mpicc is a script. It is known by the first lines of its own text, and
// obeys what begins with MPICH_.
const (
	mpichMarker = "compile script"
	mpichName   = "MPICH"
)

// isKnownScript reports whether a script that a shell was started with is known.
func isKnownScript(text []byte) bool {
	head := text[:min(len(text), 2048)]
	return bytes.HasPrefix(head, []byte("#!")) && bytes.Contains(head, []byte(mpichMarker)) && bytes.Contains(head, []byte(mpichName))
}

// shells run scripts. They are no programs of their own here: what counts is the
// script.
var shells = []string{"sh", "bash", "dash"}
