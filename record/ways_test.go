// Who passes through a folder has not asked for its permissions.

package record

import (
	"os"
	"slices"
	"strings"
	"testing"

	"jitcache/observe"
)

// Python looks for a path without links by asking of each folder on the way whether it is
// one (os.path.realpath), and is told its permissions too. Homes differ in those.
//
//jitcache:control nomodes where_it_ends
func TestPermissionsOfFoldersThatPythonPassesThroughDoNotCount(t *testing.T) {
	python := realPython(t)
	const all = `
p = d.split("/")[1:]
for i in range(len(p)): os.lstat("/" + "/".join(p[:i + 1]))`
	for name, c := range map[string]struct {
		script string
		counts bool
	}{
		"passed":              {`os.path.realpath(d + "/on/f")`, false},
		"passed to a link":    {`os.path.realpath(d + "/on/link")`, false},
		"passed after a link": {`os.path.realpath(d + "/link/f")`, false},
		"where it ends":       {`os.path.realpath(d + "/on")`, true},
		"by itself":           {`os.path.realpath(d + "/on/f"); os.lstat(d + "/on")`, true},
		"by itself first":     {`os.lstat(d + "/on"); os.path.realpath(d + "/on/f")`, true},
		"followed":            {`os.path.realpath(d + "/on/f"); os.stat(d + "/on")`, true},
		"from another folder": {`os.lstat(d + "/on"); os.lstat(d + "/on/f")`, true},
		"relative":            {`os.lstat("on"); os.lstat("on/f")`, true},
		"from the root":       {`os.lstat("/"); d += "/on/f"` + all, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("on/f", "")
			os.Symlink("f", w.dir+"/on/link")
			os.Symlink("on", w.dir+"/link")
			countsOn(t, w, c.counts, python, "-I", "-S", "-c", "import os; d = os.getcwd()\n"+c.script)
		})
	}
}

// Whoever else asks of each folder on a way may say what it was told.
func TestPermissionsOfFoldersThatOthersPassThroughCount(t *testing.T) {
	w := newWorld(t)
	w.put("on/f", "")
	words := []string{"stat", "-c", "%a"}
	for i, c := range w.dir + "/on/f" {
		if c == '/' && i != 0 {
			words = append(words, (w.dir + "/on/f")[:i])
		}
	}
	countsOn(t, w, true, append(words, w.dir+"/on/f")...)
}

// countsOn runs words, and sees whether the permissions of the folder "on" count.
func countsOn(t *testing.T, w *world, counts bool, words ...string) {
	t.Helper()
	l, err := w.run(words...)
	if err != nil {
		t.Fatal(err)
	}
	if state, why := l.Check(w.surroundings()); state == Changed {
		t.Fatal(why)
	}
	if err := os.Chmod(w.dir+"/on", 0o710); err != nil {
		t.Fatal(err)
	}
	state, why := l.Check(w.surroundings())
	if (state == Changed) != counts || counts && !strings.Contains(why, "on: permissions 710, were 755") {
		t.Errorf("state %d, %s", state, why)
	}
}

// Of what no list has nothing is kept, if somebody asks for just that.
func TestWhoAsksForJustTheInodeIsRefused(t *testing.T) {
	w := newWorld(t)
	if err := refusal(t, w, observe.UseInode, w.put("f", "")); err == nil || !strings.Contains(err.Error(), "/f): asks for a file's owner") {
		t.Error(err)
	}
}

//jitcache:control noasked named read_by_a_shell
func TestWhatLibrariesLookAtCountsForWhoAsksForIt(t *testing.T) {
	const kinds, mounts = "/proc/filesystems", "/proc/self/mounts"
	for _, c := range []struct {
		name, script    string
		counts, refused bool
	}{
		{"named", "cat " + kinds, true, false},
		{"read by a shell", "read line < " + kinds, true, false},
		{"looked at by a library", "mkdir -p x", false, false},
		{"mounts that are named", "cat " + mounts, false, true},
		{"mounts that a shell reads", "read line < " + mounts, false, true},
		{"mounts that python reads", pythonItself(t) + " -S -I file", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("file", "open('"+mounts+"').read()")
			l, err := w.run("sh", "-c", c.script)
			if c.refused {
				if err == nil || !strings.Contains(err.Error(), "asks what is mounted") {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if is := slices.ContainsFunc(l.Files, func(f File) bool { return f.Path == kinds }); is != c.counts {
				t.Errorf("counts: %v", is)
			}
		})
	}
}
