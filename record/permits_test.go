package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"jitcache/observe"
)

// What root was told is another matter for somebody else, though nothing has changed.
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
			for dir := w.dir; dir != "/"; dir = filepath.Dir(dir) {
				if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&1 == 0 {
					os.Chmod(dir, info.Mode().Perm()|0o055)
				}
			}
			settle()
			l := w.taken(script)
			said := make(chan string)
			go func() {
				runtime.LockOSThread() // and ends with the goroutine
				syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 0)
				_, why := l.Check(w.surroundings())
				said <- why
			}()
			if got := <-said; !strings.HasSuffix(got, why) || (got == "") != (why == "") {
				t.Errorf("%q, want %q", got, why)
			}
		})
	}
}

// Who wants to make or change what he may not may be allowed to, another time.
func TestWhoIsNotAllowedToChangeSomethingIsRefused(t *testing.T) {
	w := newWorld(t)
	program, err := os.Executable() // nobody knows what it does
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Dir: w.dir, Report: &observe.Report{
		Programs: []observe.Program{{Path: program}},
		Uses:     []observe.Used{{Use: observe.UseDenied, Programs: 1, Detail: w.dir + "/f"}},
	}}
	if _, err := r.Take(); err == nil || !strings.Contains(err.Error(), "/f): may not make or change") {
		t.Error(err)
	}
}
