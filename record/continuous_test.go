// Variables of services for continuous integration.

package record

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A service names each run, and numerical libraries have settings. No compiler asks for these, whatever words it has in it; another
// variable that ends in the same letters counts.
//
//jitcache:control noruns clang
func TestVariablesOfARunDoNotCountForKnownPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		words  []string
		counts bool
	}{
		"clang":  {[]string{"clang", "-c", "a.c"}, false},
		"gcc":    {[]string{"gcc", "m.c", "-o", "m"}, false},
		"script": {[]string{"sh", "-c", "gcc -c a.c"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "int a;\n")
			w.put("m.c", "int main(void) { return 0; }\n")
			own := w.env
			l := w.takenOf(c.words...)
			for _, e := range []string{"OMP_NUM_THREADS=2", "BUILD_ID=7", "GITHUB_RUN_ID=9", "CI_JOB_ID=3", "WORKSPACE=" + w.dir} {
				w.env = append(slices.Clip(own), e)
				w.compare(l, c.counts, "is set now")
			}
			if name != "clang" {
				return
			}
			w.env = append(slices.Clip(own), "GNU_BUILD_ID=7")
			w.compare(l, true, "GNU_BUILD_ID is set now")
			w.env = append(slices.Clip(own), "WORKSPACE="+w.dir)
			l = w.takenOf(c.words...)
			w.env = append(slices.Clip(own), "WORKSPACE=/")
			w.compare(l, false, "")
		})
	}
}

//jitcache:control noloaded
func TestWordsOfALibraryThatIsOnlyLinkedAreNoVariables(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	w := newWorld(t)
	w.put("x.c", "#include <stdlib.h>\nchar *x(void) { return getenv(\"OF_THE_LIBRARY\"); }\n")
	w.put("m.c", "char *x(void);\nint main(void) { return !x(); }\n")
	c := exec.Command("gcc", "-shared", "-fPIC", "x.c", "-o", "libx.so")
	if c.Dir = w.dir; c.Run() != nil {
		t.Fatal("no library")
	}
	for _, linker := range []string{"bfd", "lld", "mold", "gold"} {
		if _, err := exec.LookPath("ld." + linker); err != nil {
			continue
		}
		l := w.takenOf("gcc", "-fuse-ld="+linker, "m.c", "-L.", "-lx", "-o", "m")
		own := w.env
		w.env = append(slices.Clip(own), "OF_THE_LIBRARY=1")
		w.compare(l, false, "")
		w.env = own
		for _, f := range l.Files {
			name := filepath.Base(f.Path)
			if linked := f.Flags&Linked != 0; linked && (strings.HasPrefix(name, "libbfd") || strings.HasPrefix(name, "libLLVM")) || !linked && name == "libx.so" {
				t.Errorf("%s: %s: %v", linker, name, linked)
			}
		}
		os.Remove(w.dir + "/m")
	}
}
