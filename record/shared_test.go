// Programs that share a bit of a mask.

package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where there are 64 programs and more, the last ones share a bit. What does not count
// for Python, or for a shell, counts as soon as one of those is none.
//
//jitcache:control noshared many
func TestProgramsThatShareABitHaveNoExcuseOfOneOfThem(t *testing.T) {
	python := realPython(t)
	ls, err := exec.LookPath("ls")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name     string
		programs int
		counts   bool
	}{{"few", 3, false}, {"many", 70, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("d/a", "")
			content, err := os.ReadFile(ls)
			if err != nil {
				t.Fatal(err)
			}
			script := "set -e\n"
			for i := range c.programs {
				path := w.put(fmt.Sprintf("bin/ls%d", i), string(content))
				if err := os.Chmod(path, 0o755); err != nil {
					t.Fatal(err)
				}
				if i != c.programs-1 {
					script += path + " bin >/dev/null\n"
				}
			}
			script += python + " -I -S -c 'import os; os.listdir(\"d\")'\n"
			if c.counts {
				script += w.dir + "/" + fmt.Sprintf("bin/ls%d", c.programs-1) + " d >/dev/null\n"
			}
			l, err := w.run("sh", "-c", script)
			if err != nil && c.counts && strings.Contains(err.Error(), "time of day") {
				return // Python asks for it, and that is no excuse for the others
			}
			if err != nil {
				t.Fatal(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatal(why)
			}
			if err := os.Mkdir(filepath.Join(w.dir, "d", compiledByPython), 0o755); err != nil {
				t.Fatal(err)
			}
			state, why := l.Check(w.surroundings())
			if (state == Changed) != c.counts || c.counts && !strings.Contains(why, "entries were added or removed") {
				t.Errorf("state %d, %s", state, why)
			}
		})
	}
}

// realPython returns Python's program: what stands first in PATH may be a script.
func realPython(t *testing.T) string {
	t.Helper()
	said, err := exec.Command("python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		t.Skip(err)
	}
	return strings.TrimSpace(string(said))
}

// A program is Python, or a shell, by what is in its file: not by its name alone.
func TestProgramIsPythonByNameAndContent(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	sh, err = filepath.EvalSymlinks(sh)
	if err != nil {
		t.Fatal(err)
	}
	if !isPython(realPython(t), nil) {
		t.Error("Python is not known")
	}
	if base := filepath.Base(sh); (base == "dash" || base == "bash") && !isShell(sh, nil) {
		t.Error("the shell is not known")
	}
	none, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	content, err := os.ReadFile(none)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if path := w.put("python-stamp", string(content)); isPython(path, nil) {
		t.Error("anything is Python by its name")
	}
	if path := w.put("dash", string(content)); isShell(path, nil) {
		t.Error("anything is a shell by its name")
	}
}
