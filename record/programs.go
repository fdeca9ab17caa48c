// Known programs: how they are recognised, and what they do as far as it matters.

package record

import (
	"path/filepath"
	"slices"
	"strings"

	"jitcache/observe"
)

// A program is known if its variables are documented and it obeys no others
// (variables.go): the compilers, assemblers and linkers below. Any other program, a script
// above all, may obey anything.
//
// Known programs have two more things in common. They stat files to find them, and do not
// use modification times. And they ask for the date, by time(2), only where __DATE__ or
// __TIME__ is used (measured for gcc, clang and gfortran; they read other clocks for the
// names of temporary files and for -ftime-report).

// family is one kind of known program: the names that its file may have, without a target
// in front and a version behind, and a text that the file contains. A wrapper of the same
// name does not contain the text, or is a script.
type family struct {
	names  []string
	marker string
	does   int
}

// What the programs of a family do, as far as it matters.
const (
	driving   = 1 << iota // take a user's options
	compiling             // read sources
	linking               // read libraries to link them
	removing              // remove their output if it stands and is not empty (strace, binutils 2.40)
	opening               // open their output if it stands, and remove it unread (strace, LLD 14, mold 1.10)

	adding // add to their output if it stands

	// The following may obey any variable.
	dateless  // do not use modification times
	making    // start other programs
	wrapping  // start one compiler
	timing    // measure how long they take
	following // read what a compiler has preprocessed
	clearing  // list the folder for temporary files, to remove theirs
	obeying   // nothing else that matters
	starter   = making | wrapping | timing | following | clearing
	strange   = starter | obeying
)

// usesTimes reports whether a program of GNU's binutils is told to use times.
func usesTimes(p *observe.Program) bool {
	switch name := plainName(p.Path); name {
	case "objcopy", "strip":
		return keepsTimes(p.Args)
	case "ar", "ranlib":
		return storesTimes(name, p.Args)
	}
	return false
}

// storesTimes reports whether ar or ranlib is told to look at times or to store them, or perhaps. Where they store none by
// default they are known.
func storesTimes(name string, args []string) bool {
	for i, a := range args[min(1, len(args)):] {
		operates := strings.HasPrefix(a, "-") || i == 0 && name == "ar"
		if strings.HasPrefix(a, "--") || strings.HasPrefix(a, "@") || operates && strings.ContainsAny(a, "uUovVtM") {
			return true
		}
	}
	return false
}

// keepsTimes reports whether objcopy or strip is told to give its output the time of its input: by -p, among
// other letters too, or --preserve-dates. A file of options may say so.
func keepsTimes(args []string) bool {
	return slices.ContainsFunc(args[min(1, len(args)):], func(a string) bool {
		long := strings.HasPrefix(a, "--")
		return strings.HasPrefix(a, "@") || strings.HasPrefix(a, "--p") || !long && strings.HasPrefix(a, "-") && strings.Contains(a, "p")
	})
}

const clangMarker = "CCC_OVERRIDE_OPTIONS"

var families = []family{
	{
		[]string{"gcc", "g++", "c++", "cc", "cpp", "gfortran", "cc1", "cc1plus", "f951", "lto1", "lto-wrapper", "c99", "c89"},
		"COLLECT_GCC", driving | compiling,
	},
	{[]string{"collect2"}, "COLLECT_GCC", linking},
	{[]string{"as", "gas"}, "GNU assembler", removing},
	// They obey GNUTARGET (getenv was logged), and use times only where they are told to (keepsTimes).
	{[]string{"objcopy", "strip"}, "only-keep-debug", removing},
	{[]string{"ar", "ranlib"}, "use zero for timestamps and uids/gids (default)", adding},
	{[]string{"ld", "ld.bfd", "ld.gold", "gold"}, "COLLECT_NO_DEMANGLE", linking | removing},
	{[]string{"clang", "clang++"}, clangMarker, driving | compiling},
	{[]string{"lld", "ld.lld"}, "LLD_REPRODUCE", driving | linking | opening},
	{[]string{"mold"}, "MOLD_", driving | linking | opening},
	// Open MPI's wrapper (MPICH's is a script). A file says how the names of its variables
	// begin, so it may obey any. Only what it does at its start is known.
	{[]string{"opal_wrapper", "mpicc", "mpicxx", "mpic++", "mpifort"}, "opal_install_dirs", wrapping},
	// Starts what a makefile says, by the times of files; gcc runs it for -flto=auto (linking.go). It
	// passes the time of day to nobody.
	{[]string{"make", "gmake"}, "MAKEFLAGS", making},
	// Starts the compiler that it finds, and is told to do no more (package command). Its
	// settings may name any program to put in front. It passes the time of day to nobody.
	{[]string{"ccache"}, "CCACHE_CONFIGPATH", making},
	// CUDA's. Its front ends ask for the date whenever they start, as all front ends of their
	// vendor do, and read what the host's compiler has preprocessed, dates included. PTX has
	// no dates. They start shells, so every variable counts.
	{[]string{"nvcc"}, "nvcc.profile", clearing | dateless},
	{[]string{"cudafe++", "cicc"}, "Edison Design Group", following | dateless},
	{[]string{"ptxas"}, "Specify name of NVIDIA GPU", timing | clearing | dateless},
	{[]string{"fatbinary"}, "nvFatbin", timing | dateless},
	{[]string{"nvlink"}, "nvlink -lto", timing | dateless},
	{[]string{"bin2c"}, "generated data array", timing | dateless},
	// They show code, and ask for no times.
	{[]string{"cuobjdump"}, "Dump ptx for all listed device functions", clearing | dateless},
	{[]string{"nvdisasm"}, "paired instructions in normal syntax", timing | dateless},
	// cuTile's compiler, which starts ptxas. It asks for the date to measure (tests/cutile shows that), and for no more.
	{[]string{"tileiras"}, "Cuda Tile IR optimizing assembler", timing | dateless},
	// Generators of code, and small compilers.
	{[]string{"flex", "flex++", "lex"}, "yyFlexLexer", 0},
	{[]string{"bison", "yacc"}, "BISON_PKGDATADIR", 0},
	{[]string{"m4", "gm4"}, "M4PATH", 0},
	{[]string{"swig", "swig4.0", "swig3.0"}, "SWIG_LIB", compiling},
	{[]string{"protoc"}, "google8protobuf8compiler", compiling},
	{[]string{"tcc"}, "C_INCLUDE_PATH", compiling | linking},
	{[]string{"sdcc"}, "SDCC_HOME", 0},
	{[]string{"sdcpp"}, "SUNPRO_DEPENDENCIES", compiling},
	{assemblersOfSDCC, "SDAS_DIAG", compiling},
	{linkersOfSDCC, "ASxxxx", linking},
	{[]string{"glslangValidator", "glslang"}, "GL_GOOGLE_include_directive", compiling},
	// rustc may obey any variable: macros run inside, and env! asks. It asks for no times (an incremental compile asks
	// for that of the day).
	{[]string{"rustc"}, "librustc_driver-", obeying | dateless},
	{[]string{"ld.lld"}, "could not exec rust-lld", obeying | dateless}, // becomes Rust's own lld
	// The launcher. Where it is itself observed it only becomes its command.
	{[]string{launcher}, "jitcache-observe: requests", 0},
}

const launcher = "jitcache"

// SDCC has an assembler and a linker for each kind of processor.
var (
	assemblersOfSDCC = []string{
		"sdas390", "sdas6500", "sdas6808", "sdas8051", "sdasgb", "sdaspdk13", "sdaspdk14", "sdaspdk15", "sdasrab", "sdasstm8",
		"sdastlcs90", "sdasz80",
	}
	linkersOfSDCC = []string{"sdld", "sdld6808", "sdldgb", "sdldpdk", "sdldstm8", "sdldz80"}
)

// inner are programs that a driver starts. It spells out the target processor for them.
var inner = []string{"cc1", "cc1plus", "f951", "lto1"}

// threads are what distributions put behind the names of compilers for Windows: the kind of
// threads that they make.
var threads = []string{"-posix", "-win32", "-mcf"}

// plainName returns the name of a program's file without a target in front, as in
// x86_64-linux-gnu-gcc, and without a version and a kind of threads behind.
func plainName(path string) string {
	name := filepath.Base(path)
	for {
		cut := strings.TrimRight(name, "0123456789.")
		if cut != name && strings.HasSuffix(cut, "-") {
			name = strings.TrimSuffix(cut, "-")
			continue
		}
		i := slices.IndexFunc(threads, func(t string) bool { return strings.HasSuffix(name, t) })
		if i < 0 {
			break
		}
		name = strings.TrimSuffix(name, threads[i])
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

// familyOf returns the family of a program, nil if it is not known.
func familyOf(path string, notes Notes) *family {
	name := plainName(path)
	for i := range families {
		if f := &families[i]; slices.Contains(f.names, name) && has(path, f.marker, notes) {
			return f
		}
	}
	return nil
}

// runsWhatItMakes reports whether a program runs what it compiles in its own process: tcc -run.
func runsWhatItMakes(p *observe.Program) bool {
	return keepsRuns && plainName(p.Path) == "tcc" && slices.ContainsFunc(p.Args, func(word string) bool { return strings.HasPrefix(word, "-run") })
}

// IsKnown reports whether what is run by a path is a known program.
func IsKnown(path string, notes Notes) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	f := familyOf(real, notes)
	return f != nil && f.does&strange == 0
}

// headSize is how much of a file tells its kind.
const headSize = 64

// headOf returns the first bytes of a file, none if it cannot be read.
func headOf(path string) []byte {
	f, err := openRaw(path)
	if err != nil {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := f.ReadAt(head, 0)
	f.close()
	return head[:n]
}

// Shells run scripts, which may obey anything; they use the clock and the terminal for
// purposes of their own. So does Python, which seeds generators and compares times. Both are
// recognised by name and by a text in the file, as known programs are.
var (
	shells        = []string{"sh", "bash", "dash"}
	shellMarker   = "OPTIND"
	pythonMarkers = []string{"Py_BytesMain", "Py_UnixMain", "Py_Main"} // since 3.8; 3.7; before
)

func isShell(path string, notes Notes) bool {
	return slices.Contains(shells, filepath.Base(path)) && has(path, shellMarker, notes)
}

func isPython(path string, notes Notes) bool {
	return strings.HasPrefix(filepath.Base(path), "python") &&
		slices.ContainsFunc(pythonMarkers, func(m string) bool { return has(path, m, notes) })
}
