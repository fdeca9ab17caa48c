// Devices, pipes and the permissions of folders.

package record

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stat says of a pipe what it says of a file, and a program that is not known may use it.
//
//jitcache:control nospecials mtime
func TestWhatStatSaysOfAPipeCountsAsOfAFile(t *testing.T) {
	python := pythonItself(t)
	then := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		words  []string
		change func(path string) error
		why    string
	}{
		"mtime":       {[]string{python, "-c", "import os; os.stat('p')"}, func(p string) error { return os.Chtimes(p, then, then) }, "modification time"},
		"permissions": {[]string{python, "-c", "import os; os.lstat('p')"}, func(p string) error { return os.Chmod(p, 0o600) }, "permissions"},
		"owner":       {[]string{python, "-c", "import os; os.stat('p')"}, func(p string) error { return os.Chown(p, 1, 1) }, "owner"},
		"type": {[]string{"/bin/sh", "-c", "test -p p"}, func(p string) error {
			os.Remove(p)
			return os.WriteFile(p, nil, 0o644)
		}, "type changed"},
		"known": {[]string{"gcc", "-x", "c", "-Ip", "-c", "/dev/null", "-o", "o"}, func(p string) error { return os.Chmod(p, 0o600) }, ""},
	} {
		if _, err := exec.LookPath(c.words[0]); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := w.dir + "/p"
			if err := unix.Mkfifo(path, 0o644); err != nil {
				t.Fatal(err)
			}
			l := w.takenOf(c.words...)
			// Who may not give a pipe away has a list that says that somebody has.
			if err := c.change(path); os.IsPermission(err) {
				i := slices.IndexFunc(l.Kinds, func(k Kind) bool { return k.Path == "p" })
				l.Kinds[i].Owner = 1<<32 | 1
			} else if err != nil {
				t.Fatal(err)
			}
			w.compare(l, c.why != "", c.why)
		})
	}
}

// A device is told from another one by its numbers alone.
//
//jitcache:control nospecials
func TestDeviceThatIsAnotherByNowCounts(t *testing.T) {
	w := newWorld(t)
	path := w.dir + "/d"
	null, zero := int(unix.Mkdev(1, 3)), int(unix.Mkdev(1, 5))
	if unix.Mknod(path, unix.S_IFCHR|0o666, null) != nil {
		// Who may not make devices has a list that says that null was zero.
		l := w.takenOf("/bin/sh", "-c", "test -c /dev/null")
		i := slices.IndexFunc(l.Kinds, func(k Kind) bool { return k.Path == "/dev/null" })
		l.Kinds[i].Device = 1<<32 | 5
		w.compare(l, true, "is another device")
		return
	}
	l := w.takenOf("/bin/sh", "-c", "test -c d")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, zero); err != nil {
		t.Fatal(err)
	}
	w.compare(l, true, "is another device")
}

// Terminals differ from session to session, and null is the same everywhere.
func TestDevicesOfTheMachineCountByTheirTypes(t *testing.T) {
	w := newWorld(t)
	l := w.takenOf(pythonItself(t), "-c", "import os; os.stat('/dev/null'); os.path.exists('/dev/ptmx') and os.stat('/dev/ptmx')")
	for _, k := range l.Kinds {
		if !strings.HasPrefix(k.Path, "/dev/") {
			continue
		}
		if want := map[string]KindFlags{"/dev/null": Numbered}[k.Path]; k.Flags != want {
			t.Errorf("%s: flags %d, want %d", k.Path, k.Flags, want)
		}
	}
}

// A folder may be looked at whatever its permissions, and if it has none at all.
func TestPermissionsCountWhereThereWereNone(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(w.dir+"/on", 0); err != nil {
		t.Fatal(err)
	}
	l := w.takenOf(pythonItself(t), "-c", "import os; os.stat('on')")
	if err := os.Chmod(w.dir+"/on", 0o755); err != nil {
		t.Fatal(err)
	}
	w.compare(l, true, "permissions")
}
