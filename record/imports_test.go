// The time of a Python source counts for a script that asks for it.

package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Python asks for the times of the sources that it imports, and runs the same whatever they are. A script may ask for its
// own, and for that of a module, and compare them with that of an input.
//
//jitcache:control nodates itself module before_it_is_imported child compiled_file open
func TestTimeOfASourceOfPythonCountsForAScriptThatAsksForIt(t *testing.T) {
	python := realPython(t)
	for name, c := range map[string]struct {
		script string
		counts bool
	}{
		"imported":              {"", false},
		"path without links":    {"os.path.realpath(__file__)", false},
		"itself":                {"os.path.getmtime(__file__)", true},
		"owner":                 {"os.stat(__file__).st_uid", true},
		"module":                {"os.path.getmtime(m.__file__)", true},
		"before it is imported": {"os.path.getmtime(os.path.dirname(os.path.abspath(__file__)) + '/n.py'); import n", true},
		"by another name":       {"os.path.getmtime('./' + os.path.basename(m.__file__))", true},
		"child":                 {"os.fork() or os._exit(os.path.getmtime(__file__) < 0); os.wait()", true},
		"compiled file":         {"os.path.getmtime(m.__cached__)", true},
		"open":                  {"f = open(__file__); os.fstat(f.fileno())", true},
		"link itself":           {"os.lstat(__file__)", true},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "owner" && os.Geteuid() != 0 {
				t.Skip("not root")
			}
			w := newWorld(t)
			var env []string
			for _, e := range w.env {
				if !strings.HasPrefix(e, "PYTHON") {
					env = append(env, e)
				}
			}
			w.env = env
			w.put("s.py", "import os, m\n"+c.script+"\n")
			w.put("m.py", "x = 1\n")
			w.put("n.py", "x = 1\n")
			if _, err := w.run(python, "s.py"); err != nil && !c.counts { // makes the compiled files
				t.Fatal(err)
			}
			settle()
			l, err := w.run(python, "s.py")
			if err != nil {
				t.Fatal(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatal(why)
			}
			then := time.Now().Add(-time.Hour)
			files, _ := filepath.Glob(w.dir + "/*.py")
			compiled, _ := filepath.Glob(w.dir + "/__pycache__/*.pyc")
			for _, f := range append(files, compiled...) {
				if name == "owner" {
					os.Chown(f, 1, 1)
				}
				os.Chtimes(f, then, then)
			}
			w.compare(l, c.counts, "")
		})
	}
}
