package native

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// toolchain is a compiler as it is with certain flags and in an environment.
type toolchain struct {
	Version []string // what it says of itself, line by line
	// Machine is what it is told of the processor: -march=native spelled out.
	Machine []string
	Search  []string // where <…> is looked for, in order
	Missing []string // folders that would be searched if they were there
	Libs    []string // where -l is looked for
	Shows   bool     // paths are in what it makes, whatever the flags

	programs []string    // that it consists of
	stamps   []key.Stamp // of these, when the compiler had spoken of them
	list     *manifest.List
	digest   key.Digest
}

// maxPrograms bounds what a toolchain consists of. gcc has five to eight, clang
// four, a wrapper of MPI's one more.
const maxPrograms = 16

// ask returns the question that learn wants to have answered. On an empty file
// the compiler tells all it would do.
func (p *parts) ask(language string) []string {
	args := slices.Clone(p.words)
	for i := 0; i < len(p.flags); i++ {
		name, value, ok := cut(p.flags[i])
		next := ok && value == ""
		if name == "-include" || name == "-imacros" || name == "-l" || !ok && !strings.HasPrefix(p.flags[i], "-") {
			if next {
				i++
			}
			continue
		}
		args = append(args, p.flags[i])
		if next && i+1 < len(p.flags) {
			i++
			args = append(args, p.flags[i])
		}
	}
	return append(args, quiet, "-v", "-E", "-x", language, "/dev/null")
}

// learn reads what the compiler has printed about itself. It consists of the given
// programs and of those that it names; path is PATH.
func learn(text string, program []string, path string, f *flags) (*toolchain, error) {
	t := &toolchain{list: &manifest.List{}}
	var folders []string
	var installed string
	angle := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#include "):
			angle = strings.HasPrefix(line, "#include <")
		case strings.HasPrefix(line, "End of search list"):
			angle = false
		case angle && strings.HasPrefix(line, " "):
			t.Search = append(t.Search, strings.TrimSpace(line))
		case strings.HasPrefix(line, "ignoring nonexistent directory \""):
			t.Missing = append(t.Missing, strings.TrimSuffix(line[len("ignoring nonexistent directory \""):], "\""))
		case strings.HasPrefix(line, "Reading specs from "):
			program = append(program, line[len("Reading specs from "):])
		case strings.HasPrefix(line, "Configuration file: "):
			program = append(program, line[len("Configuration file: "):])
		case strings.HasPrefix(line, "InstalledDir: "):
			installed = line[len("InstalledDir: "):]
		case strings.HasPrefix(line, "COMPILER_PATH="):
			folders = append(folders, filepath.SplitList(line[len("COMPILER_PATH="):])...)
		case strings.HasPrefix(line, "LIBRARY_PATH="):
			t.Libs = unique(filepath.SplitList(line[len("LIBRARY_PATH="):]))
		case strings.HasPrefix(line, " ") && isDriverCall(line):
			program = append(program, t.takeCall(words(line))...)
		case strings.Contains(line, "version ") || strings.HasPrefix(line, "Target:") || strings.HasPrefix(line, "Configured with:"):
			t.Version = append(t.Version, line)
		}
	}
	if len(t.Version) == 0 || len(t.Search) == 0 {
		return nil, request.Refuse(program[0], "does not say what it is and where it looks for headers")
	}
	if t.isClang() {
		real, _ := filepath.EvalSymlinks(program[0])
		t.list.Absent = noConfiguration(t.target(), installed, filepath.Dir(program[0]), filepath.Dir(real))
	} else {
		t.list.Absent = noSpecs(folders)
	}
	folders = append(folders, filepath.SplitList(path)...)
	for _, tool := range f.tools() {
		if found := find(tool, folders); found != "" {
			program = append(program, found)
		}
	}
	program = unique(program)
	t.programs = program[:min(len(program), maxPrograms)]
	return t, nil
}

// isDriverCall reports whether a line is the command of the compiler proper,
// which gcc calls cc1, and clang itself with -cc1.
func isDriverCall(line string) bool {
	return strings.Contains(line, "/cc1 ") || strings.Contains(line, "/cc1plus ") || strings.Contains(line, "\"-cc1\"") || strings.Contains(line, " -cc1 ")
}

// takeCall takes what the call says of the processor, and returns the program.
func (t *toolchain) takeCall(call []string) []string {
	for i := 1; i < len(call); i++ {
		switch w := call[i]; {
		case w == "--param" || w == "-target-cpu" || w == "-target-feature" || w == "-tune-cpu" || w == "-triple" || w == "-target-abi":
			if i++; i < len(call) {
				t.Machine = append(t.Machine, w+" "+call[i])
			}
		case strings.HasPrefix(w, "-m") || strings.HasPrefix(w, "--param="):
			t.Machine = append(t.Machine, w)
		}
	}
	if filepath.IsAbs(call[0]) {
		return call[:1]
	}
	return nil
}

// words splits a line as a compiler prints commands: "…" quotes, \ escapes.
func words(line string) []string {
	var found []string
	var word []byte
	in, quoted := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			i++
			word, in = append(word, line[i]), true
		case c == '"':
			quoted, in = !quoted, true
		case c == ' ' && !quoted:
			if in {
				found = append(found, string(word))
			}
			word, in = word[:0], false
		default:
			word, in = append(word, c), true
		}
	}
	if in {
		found = append(found, string(word))
	}
	if len(found) == 0 {
		return []string{""}
	}
	return found
}

// stampsOf returns the stamps that files have now; zero ones for those that cannot be looked at.
func stampsOf(paths []string) []key.Stamp {
	now := time.Now().UnixNano()
	stamps := make([]key.Stamp, len(paths))
	for i, path := range paths {
		var st syscall.Stat_t
		if syscall.Stat(path, &st) == nil {
			stamps[i] = key.StampOf(&st, now)
		}
	}
	return stamps
}

// join makes the toolchain's list of those of its programs, and seals it. It
// reports false if these are not what they were when the compiler spoke: it spoke
// of others.
func (t *toolchain) join(lists []*manifest.List) bool {
	seen := map[string]bool{}
	for i, l := range lists {
		if !l.Files[0].Stamp.Same(&t.stamps[i]) {
			return false
		}
		for _, f := range l.Files {
			if !seen[f.Path] {
				seen[f.Path] = true
				t.list.Files = append(t.list.Files, f)
			}
		}
		t.list.Absent = append(t.list.Absent, l.Absent...)
	}
	t.list.Absent = unique(t.list.Absent)
	t.list.Payload, _ = json.Marshal(t) // texts and booleans
	t.seal()
	return true
}

// seal computes the digest: what the toolchain is, wherever it lies.
func (t *toolchain) seal() {
	all := key.AppendTexts(nil, t.Version...)
	if resolvesNative {
		all = key.AppendTexts(all, t.Machine...)
	}
	for i := range t.list.Files {
		if f := &t.list.Files[i]; f.Path != loaderCache {
			all = append(all, f.Digest[:]...)
		}
	}
	t.digest = key.Sum(all)
}

// fromList makes a toolchain again from what was noted of it.
func fromList(l *manifest.List) *toolchain {
	t := &toolchain{list: l}
	if json.Unmarshal(l.Payload, t) != nil {
		return nil
	}
	t.seal()
	return t
}

// isClang tells clang, and what is made of it, from gcc.
func (t *toolchain) isClang() bool {
	return slices.ContainsFunc(t.Version, func(line string) bool { return strings.Contains(line, "clang version ") })
}

// target returns what code is made for: x86_64-pc-linux-gnu.
func (t *toolchain) target() string {
	for _, line := range t.Version {
		if target, ok := strings.CutPrefix(line, "Target: "); ok {
			return target
		}
	}
	return ""
}

// stands reports whether the folders that were missing still are: one that
// appears takes its place in the search, which only the compiler knows.
func (t *toolchain) stands() bool {
	for _, dir := range t.Missing {
		if _, err := os.Stat(dir); err == nil {
			return false
		}
	}
	return true
}

// lookup returns the file that a program's name stands for, and the paths before
// it in PATH under which there was none.
func lookup(name, path string) (found string, absent []string) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, absent
		}
		if filepath.IsAbs(file) {
			absent = append(absent, file)
		}
	}
	return "", nil
}

func find(name string, folders []string) string {
	found, _ := lookup(name, strings.Join(folders, string(filepath.ListSeparator)))
	return found
}

func unique(texts []string) []string {
	var found []string
	for _, t := range texts {
		if t != "" && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	return found
}
