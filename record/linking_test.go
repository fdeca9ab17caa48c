// What gcc starts for a link with -flto.

package record

import (
	"os"
	"testing"
)

// gcc has make link in parts. Who else lists the folder for temporary files may mean anything by it.
//
//jitcache:control nomakefiles a_makefile_of_our_own beside_a_link
func TestNamesInTheFolderForTemporaryFilesDoNotCountForALink(t *testing.T) {
	for name, c := range map[string]struct {
		words  []string
		counts bool
	}{
		"link":                  {[]string{"gcc", "-O2", "-flto=auto", "m.c", "g.c", "-o", "p"}, false},
		"a makefile of our own": {[]string{"make", "-f", "own.mk"}, true},
		"beside a link":         {[]string{"make", "-f", "both.mk"}, true},
		"a script":              {[]string{"sh", "-c", "echo $TMPDIR/*.c"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.needs("gcc")
			os.Mkdir(w.dir+"/tmp", 0o755)
			w.env = append(w.env, "TMPDIR="+w.dir+"/tmp")
			w.put("m.c", "int g(void); int main(void) { return g(); }\n")
			w.put("g.c", "int g(void) { return 0; }\n")
			own := "all:\n\t@echo $(wildcard $(TMPDIR)/*.c)\n"
			w.put("own.mk", own)
			w.put("both.mk", own+"\tgcc -O2 -flto=auto m.c g.c -o p\n")
			l := w.takenOf(c.words...)
			w.put("tmp/x.c", "")
			w.compare(l, c.counts, "entries were added or removed")
		})
	}
}

// Drivers look whether they can put temporary files into a folder. That there was one does not count.
func TestFolderForTemporaryFilesMayBeGone(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		w := newWorld(t)
		os.Mkdir(w.dir+"/tmp", 0o755)
		w.put("m.c", "int main(void) { return 0; }\n")
		w.env = append(w.env, "TMPDIR="+w.dir+"/tmp")
		l := w.takenOf(compiler, "m.c", "-o", "p")
		os.Remove(w.dir + "/tmp")
		w.compare(l, false, "")
	}
}
