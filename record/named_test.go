// Variables that no manual names, and programs that contain the names.

package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jitcache/core/key"
	"jitcache/core/wildcard"
)

// asking is known as gcc is, and obeys variables that gcc's manual does not name.
const asking = `
#include <stdio.h>
#include <stdlib.h>
__attribute__((used)) static const char marker[] = "COLLECT_GCC";
__attribute__((used)) static const char longer[] = "X_LIKE_THE_TAIL";
__attribute__((used)) static const char word[] = "WORD";
__attribute__((used)) static const char user[] = "USER";
int main(int n, char **words)
{
	const char *value = getenv("QUIETLY_OBEYED");
	FILE *out = fopen(words[1], "w");
	fputs(value == NULL ? "" : value, out);
	return fclose(out);
}
`

//jitcache:control nonamed set another
//jitcache:control noplain two_paths nothing_after_a_folder
func TestVariableThatNoManualNamesCountsWhereAProgramHasTheName(t *testing.T) {
	w := newWorld(t)
	w.put("asking.c", asking)
	w.put("bin/.keep", "")
	if _, err := w.run("cc", "asking.c", "-o", "bin/gcc"); err != nil {
		t.Fatal(err)
	}
	plain := w.env
	one, another := w.put("of/one/.keep", ""), w.put("of/another/.keep", "")
	one, another = filepath.Dir(one), filepath.Dir(another)
	w.put("of/one=/x/.keep", "")
	for _, row := range []struct {
		name, was, is string
		changed       bool
	}{
		{"set", "", "QUIETLY_OBEYED=1", true},
		{"another", "QUIETLY_OBEYED=1", "QUIETLY_OBEYED=2", true},
		{"no longer set", "QUIETLY_OBEYED=1", "", true},
		{"the tail of a text", "", "THE_TAIL=1", true},
		{"a folder that nobody looks into", "QUIETLY_OBEYED=" + one, "QUIETLY_OBEYED=" + another, false},
		{"a folder after nothing", "", "QUIETLY_OBEYED=" + another, true},
		{"nothing after a folder", "QUIETLY_OBEYED=" + one, "", true},
		{"a text after a folder", "QUIETLY_OBEYED=" + one, "QUIETLY_OBEYED=1", true},
		{"two paths", "QUIETLY_OBEYED=" + one + "=/x", "QUIETLY_OBEYED=" + one + "=/y", true},
		{"two paths after a folder", "QUIETLY_OBEYED=" + one, "QUIETLY_OBEYED=" + one + "=/y", true},
		{"a path where nothing is", "QUIETLY_OBEYED=/of/one", "QUIETLY_OBEYED=/of/another", true},
		{"a name that is nowhere", "", "NOBODY_OBEYS=1", false},
		{"another name that is nowhere", "NOBODY_OBEYS=1", "NEITHER_THIS=1", false},
		{"the begin of a name", "", "QUIETLY=1", false},
		{"a word that is a text", "", "WORD=1", true},
		{"who the user is", "", "USER=me", false},
		{"a word that only ends one", "", "TAIL=1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			with := func(variable string) []string {
				if variable == "" {
					return plain
				}
				return append(slices.Clone(plain), variable)
			}
			w.env = with(row.was)
			l, err := w.run(w.dir+"/bin/gcc", "out")
			if err != nil {
				t.Fatal(err)
			}
			if l.World.Rule != KnownVariables {
				t.Fatalf("the program is not known: rule %d", l.World.Rule)
			}
			l, err = Parse(l.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatalf("nothing was changed: %s", why)
			}
			w.env = with(row.is)
			state, why := l.Check(w.surroundings())
			if (state == Changed) != row.changed || row.changed && !strings.HasPrefix(why, "environment: ") {
				t.Errorf("state %d, %q", state, why)
			}
		})
	}
}

// A file that could not be read once must not be taken for one without names for good.
func TestProgramThatCannotBeReadMayHaveAnyName(t *testing.T) {
	w := newWorld(t)
	path := w.put("program", "no program")
	l := &List{Files: []File{{Path: path, Mode: 0o100755, Digest: key.Sum([]byte(t.Name()))}}}
	full := func(path string) string { return path }
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if !l.names("QUIETLY_OBEYED", full, nil) {
		t.Error("a program that cannot be read has no names")
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if l.names("QUIETLY_OBEYED", full, nil) {
		t.Error("what could not be read was remembered")
	}
}

// A file of specs may ask for any variable (gcc(1), "Spec Files"), as those of toolchains do
// for where they are. A source that says getenv asks for none.
//
//jitcache:control nospecs asked_for
func TestVariableThatAFileOfSpecsAsksForCounts(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	for name, c := range map[string]struct {
		compiler, specs string
		counts          bool
	}{
		"asked for":     {"gcc", "*cc1:\n+ -DV=%:getenv(site_wide 1)\n\n", true},
		"not asked for": {"gcc", "*cc1:\n+ -DV=1\n\n", false},
		"in a source":   {"clang", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "char *getenv(const char *);\nint v = V;\n")
			words := []string{c.compiler, "-DV=1", "-c", "a.c", "-o", "a.o"}
			if c.specs != "" {
				words = append([]string{c.compiler, "-specs=" + w.put("s", c.specs)}, words[2:]...)
			}
			before := w.env
			w.env = append(before, "site_wide=1")
			l, err := w.run(words...)
			if err != nil {
				t.Fatal(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatal(why)
			}
			w.env = append(before, "site_wide=2")
			if state, why := l.Check(w.surroundings()); (state == Changed) != c.counts {
				t.Errorf("state %d, %s", state, why)
			}
		})
	}
}

// Whether a program names a library is told by the library's name, which one that is preloaded may have too.
func TestPreloadedLibraryIsForeignWhateverItsName(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "int a;\n")
	w.takenOf("gcc", "-shared", "-fPIC", "a.c", "-o", "libz.so.1")
	if l := w.takenOf("gcc", "-c", "a.c", "-o", "a.o"); l.World.Rule != KnownVariables {
		t.Fatalf("rule %d", l.World.Rule)
	}
	w.env = append(w.env, "LD_PRELOAD="+w.dir+"/libz.so.1")
	// gcc asks for the time, which only a known program does for nothing.
	if l, err := w.run("gcc", "-c", "a.c", "-o", "a.o"); err == nil && l.World.Rule != AllVariables {
		t.Errorf("rule %d", l.World.Rule)
	}
}

// So may one that LD_LIBRARY_PATH names, unless it is in a folder where the program's own are.
//
//jitcache:control nosubstitutes
func TestLibraryThatStandsBeforeAProgramsOwnIsForeignWhateverItsName(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "int a;\n")
	words := []string{"gcc", "-c", "a.c", "-o", "a.o"}
	l := w.takenOf(words...)
	folder := ""
	for _, f := range l.Files {
		at, name := split(f.Path)
		if !strings.HasPrefix(name, "lib") || !isLibrary(f.Path) || wildcard.MatchesAny(name, cLibrary) || wildcard.MatchesAny(name, unnamed) {
			continue
		}
		library, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		folder = at
		w.put("other/"+name, string(library))
	}
	if folder == "" {
		t.Skip("gcc needs no libraries")
	}
	before := w.env
	w.env = append(before, "LD_LIBRARY_PATH="+folder)
	if l := w.takenOf(words...); l.World.Rule != KnownVariables {
		t.Errorf("its own: rule %d", l.World.Rule)
	}
	for _, path := range []string{w.dir + "/other", "/nowhere::" + w.dir + "/../" + filepath.Base(w.dir) + "/other/", "other", "/nowhere;other"} {
		w.env = append(before, "LD_LIBRARY_PATH="+path)
		l, err := w.run(words...)
		if err != nil {
			t.Fatal(err)
		}
		source := slices.IndexFunc(l.Files, func(f File) bool { return f.Path == "a.c" })
		if l.World.Rule != AllVariables || l.Files[source].Flags&Dated == 0 {
			t.Errorf("%s: rule %d, flags %d", path, l.World.Rule, l.Files[source].Flags)
		}
	}
}

func TestPluginOfALinkerIsForeignUnlessItIsBesideWhatGccRuns(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "int main(void) { return 0; }\n")
	w.put("p.c", "int onload(void *all) { (void)all; return 0; }\n")
	w.takenOf("gcc", "-shared", "-fPIC", "p.c", "-o", "liblto_plugin.so")
	if l := w.takenOf("gcc", "a.c", "-o", "a"); l.World.Rule != KnownVariables {
		t.Fatalf("rule %d", l.World.Rule)
	}
	if l, err := w.run("gcc", "a.c", "-Wl,-plugin,"+w.dir+"/liblto_plugin.so", "-o", "a"); err == nil && l.World.Rule != AllVariables {
		t.Errorf("rule %d", l.World.Rule)
	}
}
