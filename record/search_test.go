// Of PATH counts what was found in it.

package record

import (
	"os"
	"strings"
	"testing"
)

// Another folder in front of PATH in which there is nothing of what was looked for does not count, and everything else does.
//
//jitcache:control nosearch empty_folder absent_folder file_in_place_of_a_folder behind
func TestOfPathCountsWhatWasFoundInIt(t *testing.T) {
	usual := "/usr/local/bin:/usr/bin:/bin"
	for name, c := range map[string]struct {
		path   string
		counts bool
		words  string
	}{
		"empty folder":              {"ROOT/empty:" + usual, false, "gcc -c a.c"},
		"absent folder":             {"ROOT/none:" + usual, false, "gcc -c a.c"},
		"file in place of a folder": {"ROOT/a.c:" + usual, false, "gcc -c a.c"},
		"behind":                    {usual + ":ROOT/as", false, "gcc -c a.c"},
		"another assembler":         {"ROOT/as:" + usual, true, "gcc -c a.c"},
		"through a link":            {"ROOT/link:" + usual, true, "gcc -c a.c"},
		"no program":                {"ROOT/plain:" + usual, true, "gcc -c a.c"},
		"a folder of the name":      {"ROOT/folder:" + usual, true, "gcc -c a.c"},
		"empty element":             {":" + usual, true, "gcc -c a.c"},
		"relative element":          {"empty:" + usual, true, "gcc -c a.c"},
		"slash at the end":          {"/usr/bin/:" + usual, true, "gcc -c a.c"},
		"unset":                     {"", true, "gcc -c a.c"},
		"printed":                   {"ROOT/empty:" + usual, true, "gcc -v -c a.c"},
		"folders printed":           {"ROOT/empty:" + usual, true, "gcc -print-search-dirs"},
		"shell":                     {"ROOT/empty:" + usual, true, "sh -c true"},
		"clang":                     {"ROOT/empty:" + usual, false, "clang -c a.c"},
		"linker":                    {"ROOT/empty:" + usual, false, "gcc m.c -o m"},
		"another linker":            {"ROOT/ld:" + usual, true, "clang -fuse-ld=lld m.c -o m"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "int a;\n")
			w.put("m.c", "int main(void) { return 0; }\n")
			w.put("empty/other", "")
			for _, program := range []string{"as/as", "ld/ld.lld"} {
				os.Chmod(w.put(program, "#!/bin/sh\nexec /usr/bin/"+program[3:]+" \"$@\"\n"), 0o755)
			}
			w.put("plain/as", "")
			w.put("folder/as/x", "")
			os.Symlink("/usr/bin", w.dir+"/link")
			set := func(path string) {
				var env []string
				for _, e := range w.env {
					if !strings.HasPrefix(e, "PATH=") {
						env = append(env, e)
					}
				}
				if w.env = env; path != "" {
					w.env = append(env, "PATH="+strings.ReplaceAll(path, "ROOT", w.dir))
				}
			}
			set(usual)
			l := w.takenOf(strings.Fields(strings.Replace(c.words, "sh -c true", "sh -c :", 1))...)
			set(c.path)
			w.compare(l, c.counts, "PATH")
			set(usual)
			w.compare(l, false, "")
		})
	}
}

// Who was not told that a name is absent, or is a program, has the value.
func TestPathWithMoreThanProgramsInItCounts(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "int a;\n")
	w.put("first/as", "")
	w.env = append(w.env, "PATH="+w.dir+"/first:/usr/bin:/bin")
	for i, e := range w.env {
		if strings.HasPrefix(e, "PATH=") && i < len(w.env)-1 {
			w.env[i] = "IGNORED="
		}
	}
	l := w.takenOf("gcc", "-c", "a.c")
	w.put("second/as", "")
	w.env[len(w.env)-1] = "PATH=" + w.dir + "/second:/usr/bin:/bin"
	w.compare(l, true, "PATH has another value")
}

// The result has one key whatever the folders in front of PATH are called.
func TestResultsAreSharedWhereProgramsAreFoundInOnePlace(t *testing.T) {
	var first []Part
	for _, folder := range []string{"one", "two"} {
		w := newWorld(t)
		w.dir = "/tmp"
		w.env = []string{"PATH=/tmp/none-" + folder + ":/usr/bin:/bin"}
		l := w.takenOf("gcc", "-c", "-x", "c", "/dev/null", "-o", "/dev/null")
		for i, p := range l.Parts() {
			if first != nil && p.Label == "environment" && p != first[i] {
				t.Errorf("%s is another", p.Label)
			}
		}
		if first == nil {
			first = l.Parts()
		}
	}
}
