// For whom times count.

package record

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// pythonItself returns the path of a Python: what stands first in PATH may be a script.
func pythonItself(t *testing.T) string {
	t.Helper()
	said, err := exec.Command("python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		t.Skip(err)
	}
	return strings.TrimSpace(string(said))
}

//jitcache:control nodates starts_itself_again
func TestTimesCountForWhoIsNotKnownToTakeNoNotice(t *testing.T) {
	python := pythonItself(t)
	const looks = "import os, subprocess, sys; os.stat('a.txt'); open('a.txt').read();"
	for _, c := range []struct {
		name, script string
		timeless     bool
		changed      bool
	}{
		{"as it is", looks, false, true},
		{"takes no notice", looks, true, false},
		{"starts itself again", looks + "subprocess.call([sys.executable, '-I', '-S', '-c', 'pass'])", true, true},
		{"starts another that looks", looks + "subprocess.call(['cat', 'a.txt'])", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.timeless = c.timeless
			path := w.put("a.txt", "text")
			l, err := w.run(python, "-I", "-S", "-c", c.script)
			if err != nil {
				t.Fatal(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatal(why)
			}
			then := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			state, why := l.Check(w.surroundings())
			if (state == Changed) != c.changed || c.changed && !strings.Contains(why, "modification time") {
				t.Errorf("state %d, %s", state, why)
			}
			w.put("a.txt", "othr")
			if state, _ := l.Check(w.surroundings()); state != Changed {
				t.Error("another content does not count")
			}
		})
	}
}

// A program asks for the time of its input by fstat, as gzip does, which is not seen.
func TestTimeCountsOfWhatAShellHandsToAProgram(t *testing.T) {
	for _, c := range []struct {
		name    string
		words   []string
		changed bool
	}{
		{"handed", []string{"sh", "-c", "cat < file"}, true},
		{"handed by a script", []string{"sh", "script"}, true},
		{"handed to a compiler", []string{"sh", "-c", "gcc -x c -c /dev/null -o out < file"}, false},
		{"script", []string{"sh", "file"}, false},
		{"script that is a program", []string{"./file"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			path := w.put("file", "#!/bin/sh\ncat none\n")
			w.put("none", "")
			w.put("script", "cat < file\n")
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
			settle()
			if _, err := exec.LookPath("gcc"); err != nil && strings.Contains(strings.Join(c.words, " "), "gcc") {
				t.Skip(err)
			}
			l := w.takenOf(c.words...)
			w.date(path)
			w.compare(l, c.changed, "modification time")
		})
	}
}
