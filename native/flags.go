package native

import (
	"fmt"
	"path/filepath"
	"strings"

	"jitcache/core/request"
)

// flags are a request's flags as a cache sees them.
type flags struct {
	keyed []string // in order, without the paths of folders that are searched
	// Folders, in the order in which they are searched for the form.
	quote  []string
	before []string // files of -include and -imacros
	libs   []string // folders of -L
	link   []string // libraries of -l
	files  []string // read as they are named: objects, archives, version scripts
	maps   [][2]string
	linker string // of -fuse-ld=

	native     bool // means what the processor is
	showsPaths bool // in debug information
	static     bool
	lto        bool // of what is linked, code is made at the end
}

// separate are options whose argument may be the next one; the value says what
// becomes of it.
var separate = map[string]byte{
	"-I": 'd', "-isystem": 'd', "-idirafter": 'd', "-iquote": 'q', "-L": 'L', "-l": 'l', "-B": 'd',
	"-include": 'i', "-imacros": 'i', "--sysroot": 'd', "-isysroot": 'd',
	"-D": 'k', "-U": 'k', "-u": 'k', "-z": 'k', "-e": 'k', "-h": 'k', "--param": 'k', "-target": 'k', "-arch": 'k',
	"-iprefix": 'k', "-iwithprefix": 'r', "-iwithprefixbefore": 'r', "-T": 'F', "-Xlinker": 'r', "-Xassembler": 'r',
	"-Xpreprocessor": 'r', "-Xclang": 'r', "-include-pch": 'r', "-imultilib": 'r', "-aux-info": 'r', "-wrapper": 'r',
	"-o": 'r', "-x": 'r', "-MF": 'r', "-MT": 'r', "-MQ": 'r', "-specs": 'r', "-dumpbase": 'r', "-dumpdir": 'r',
}

// refused are options with an effect that a key does not cover: they write
// files, read some that nobody lists, or say what the request says.
var refused = []string{
	"-E", "-S", "-c", "-o*", "-v", "-###", "-M", "-MM", "-MD", "-MMD", "-MG", "-MP", "-MJ", "-save-temps*", "--save-temps*",
	"--coverage", "-coverage", "-fprofile*", "-ftest-coverage", "-fauto-profile*", "-fcs-profile*", "-gsplit-dwarf*",
	"-fmodule*", "-fcxx-modules*", "-fmodules*", "-emit-*", "-Wp,*", "@*", "-specs=*", "--specs=*", "-fplugin*",
	"-fpass-plugin*", "-fdump-*", "-dump*", "-dA*", "-dD*", "-dM*", "-dp*", "-dP*", "-da*", "-fstack-usage", "-fcallgraph-info*",
	"-ftime-trace*", "-ftime-report*", "-fopt-info*=*", "-fopt-info-*=*", "-foptimization-record*", "-fsave-optimization-record*", "--config*",
	"-fworking-directory", "-frecord-*", "-working-directory*", "-", "-fuse-ld=/*", "-ld-path=*", "--ld-path=*", "-fcompare-debug*",
	"-fdiagnostics-format=*-file", "-print-*", "--print-*", "--help*", "--version", "-Q", "-pass-exit-codes",
	"-fpch-*", "-fchdir*", "-ivfsoverlay*", "-fdirectives-only", "-fpreprocessed",
}

func isRefused(flag string) bool {
	for _, pattern := range refused {
		if prefix, open := strings.CutSuffix(pattern, "*"); flag == pattern || open && strings.HasPrefix(flag, prefix) {
			return true
		}
	}
	return false
}

// parseFlags reads the flags. The error is a [request.Refused].
func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	for i := 0; i < len(args); i++ {
		name, value, ok := cut(args[i])
		if ok && value == "" {
			if i++; i == len(args) {
				return f, request.Refuse(name, "its argument is missing")
			}
			value = args[i]
		}
		var err error
		if ok {
			err = f.takeWith(name, value)
		} else {
			err = f.take(args[i])
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// cut splits an option that takes an argument; value is empty if that is the
// next one.
func cut(arg string) (name, value string, ok bool) {
	if _, ok := separate[arg]; ok {
		return arg, "", true
	}
	for _, short := range []string{"-I", "-D", "-U", "-L", "-l", "-B"} {
		if strings.HasPrefix(arg, short) {
			return short, arg[2:], true
		}
	}
	for _, long := range []string{"-isystem", "-idirafter", "-iquote", "-include", "-imacros", "-isysroot"} {
		if rest, found := strings.CutPrefix(arg, long); found && rest[0] != '-' {
			return long, strings.TrimPrefix(rest, "="), true
		}
	}
	if rest, found := strings.CutPrefix(arg, "--sysroot="); found {
		return "--sysroot", rest, true
	}
	if rest, found := strings.CutPrefix(arg, "--param="); found {
		return "--param", rest, true
	}
	return "", "", false
}

func (f *flags) takeWith(name, value string) error {
	switch separate[name] {
	case 'r':
		return request.Refuse(name, "what it does cannot be keyed")
	case 'k':
		f.keyed = append(f.keyed, name+" "+value)
		return nil
	case 'l':
		f.link = append(f.link, value)
		f.keyed = append(f.keyed, name+" "+value)
		return nil
	}
	if !filepath.IsAbs(value) && separate[name] != 'i' {
		return fmt.Errorf("%s %s: want an absolute path", name, value)
	}
	f.keyed = append(f.keyed, name)
	switch separate[name] {
	case 'q':
		f.quote = append(f.quote, value)
	case 'L':
		f.libs = append(f.libs, value)
	case 'i':
		f.before = append(f.before, value)
		f.keyed = append(f.keyed, value[strings.LastIndex(value, "/")+1:])
	case 'F':
		f.files = append(f.files, value)
	}
	return nil
}

func (f *flags) take(arg string) error {
	if isRefused(arg) {
		return request.Refuse(arg, "what it does cannot be keyed")
	}
	if from, ok := strings.CutPrefix(arg, "-ffile-prefix-map="); ok {
		from, to, ok := strings.Cut(from, "=")
		if !ok {
			return request.Refuse(arg, "malformed")
		}
		f.maps = append(f.maps, [2]string{from, to})
		f.keyed = append(f.keyed, "-ffile-prefix-map="+to)
		return nil
	}
	switch {
	case arg == "" || arg[0] != '-':
		return f.file(arg, arg)
	case strings.HasPrefix(arg, "-Wl,"):
		return f.takeLinker(arg)
	case strings.HasPrefix(arg, "-Wa,"):
		if strings.Contains(arg, ",-I") || strings.Contains(arg, ",-a") || strings.Contains(arg, ",@") || strings.Contains(arg, "MD") {
			return request.Refuse(arg, "what it does cannot be keyed")
		}
	case strings.HasPrefix(arg, "-fuse-ld="):
		f.linker = strings.TrimPrefix(arg, "-fuse-ld=")
	case strings.HasPrefix(arg, "-fsanitize-") && strings.Contains(arg, "list="):
		return f.file(arg, arg[strings.Index(arg, "=")+1:])
	case strings.HasPrefix(arg, "-g") && arg != "-g0" && !strings.HasPrefix(arg, "-gno-"):
		f.showsPaths = true
	case strings.HasPrefix(arg, "-flto"):
		f.lto = true
	case arg == "-static":
		f.static = true
	case strings.HasPrefix(arg, "-m") && strings.HasSuffix(arg, "=native"):
		f.native = true
	}
	f.keyed = append(f.keyed, arg)
	return nil
}

// file takes a file that is read under the name it has here.
func (f *flags) file(arg, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%.80q: want a flag or an absolute path", arg)
	}
	f.files = append(f.files, path)
	name, _, _ := strings.Cut(arg, "=")
	if name == path {
		name = filepath.Ext(path)
	}
	f.keyed = append(f.keyed, "file "+name)
	return nil
}

// harmless are options of linkers that read and write nothing more.
var harmless = []string{
	"-z", "-O", "-s", "-S", "-x", "-E", "-B", "-h", "-u", "-l", "--as-needed", "--hash-style", "--build-id", "--gc-sections",
	"--strip", "--exclude-libs", "--enable-new-dtags", "--disable-new-dtags", "--start-group", "--end-group",
	"--whole-archive", "--export-dynamic", "--defsym", "--wrap", "--warn", "--fatal-warnings", "--sort", "--relax",
	"--icf", "--allow", "--unresolved-symbols", "--no-", "-soname", "--soname", "-rpath", "--rpath", "--threads", "-no-",
	"--undefined", "--entry", "--pack-dyn-relocs", "--compress-debug-sections", "-q", "--emit-relocs", "--copy-dt-needed", "--push-state", "--pop-state",
}

func (f *flags) takeLinker(arg string) error {
	items := strings.Split(arg, ",")[1:]
	for i, item := range items {
		if i > 0 && (items[i-1] == "-rpath" || items[i-1] == "-z" || items[i-1] == "-soname" || items[i-1] == "-h" || items[i-1] == "-u") {
			f.keyed = append(f.keyed, "-Wl,"+item)
			continue
		}
		name, path, _ := strings.Cut(item, "=")
		if name == "--version-script" || name == "--dynamic-list" {
			if err := f.file(item, path); err != nil {
				return err
			}
			continue
		}
		known := false
		for _, prefix := range harmless {
			known = known || strings.HasPrefix(item, prefix)
		}
		if !known || strings.HasPrefix(item, "-l") {
			return request.Refuse(arg, "an option of the linker that cannot be keyed")
		}
		f.keyed = append(f.keyed, "-Wl,"+item)
	}
	return nil
}

// tools are the programs that gcc and clang start besides the compiler proper.
func (f *flags) tools() []string {
	ld := "ld"
	if f.linker != "" {
		ld = "ld." + f.linker
	}
	if f.lto {
		return []string{"as", ld, "collect2", "lto-wrapper", "lto1"}
	}
	return []string{"as", ld, "collect2"}
}

// shown is a path as the compiler writes it into what it makes.
func (f *flags) shown(path string) string {
	for i := len(f.maps) - 1; i >= 0; i-- {
		if rest, ok := strings.CutPrefix(path, f.maps[i][0]); ok {
			return f.maps[i][1] + rest
		}
	}
	return path
}
