// Permissions are asked again for who wants the result.

package record

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// What root was told is another matter for somebody else, though nothing has changed.
//
//jitcache:control nopermits cd_dark
func TestWhatMayBeDoneIsAskedOfWhoWantsTheResult(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	for script, why := range map[string]string{
		"test -w dir":  "dir: permission denied now, was: permitted",
		"test -w file": "file: permission denied now, was: permitted",
		"cd dark":      "dark: permission denied now, was: permitted",
		"echo dark/*":  "dark/: permission denied now, was: permitted",
		"./program":    "program: permission denied now, was: permitted",
		"test -r file": "",
		"test -x dir":  "",
	} {
		t.Run(script, func(t *testing.T) {
			w := newWorld(t)
			for name, mode := range map[string]os.FileMode{"file": 0o644, "program": 0o744} {
				os.Chmod(w.put(name, "#!/bin/sh\n"), mode)
			}
			for name, mode := range map[string]os.FileMode{"dir": 0o755, "dark": 0o700} {
				os.Mkdir(w.dir+"/"+name, mode)
			}
			w.openWay()
			settle()
			l := w.taken(script)
			got := asNobody(func() string {
				_, why := l.Check(w.surroundings())
				return why
			})
			if !strings.HasSuffix(got, why) || (got == "") != (why == "") {
				t.Errorf("%q, want %q", got, why)
			}
		})
	}
}

// Who wants to make or change what he may not may be allowed to, another time.
func TestWhoIsNotAllowedToChangeSomethingIsRefused(t *testing.T) {
	w := newWorld(t)
	if err := refusal(t, w, observe.UseDenied, w.dir+"/f"); err == nil || !strings.Contains(err.Error(), "/f): was denied permission") {
		t.Error(err)
	}
}

// A file system may become read-only, and statfs says so.
//
//jitcache:control nopermits
func TestHowAFileSystemIsMountedCountsForWhoAsks(t *testing.T) {
	w := newWorld(t)
	disk := w.dir + "/disk"
	os.Mkdir(disk, 0o755)
	if err := unix.Mount("none", disk, "tmpfs", 0, ""); err != nil {
		t.Skip(err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	w.put("disk/f", "")
	python := realPython(t)
	for _, asks := range []string{"os.statvfs('disk')", "os.fstatvfs(os.open('disk/f', os.O_RDONLY))"} {
		l := w.takenOf(python, "-I", "-S", "-c", "import os; "+asks)
		if err := unix.Mount("none", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		w.compare(l, true, "mounted with other options")
		if err := unix.Mount("none", disk, "", unix.MS_REMOUNT, ""); err != nil {
			t.Fatal(err)
		}
		w.compare(l, false, "")
	}
}
