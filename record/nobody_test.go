// Checks as a user without privileges.

package record

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"jitcache/observe"
)

// openWay lets everybody come to the folder.
func (w *world) openWay() {
	for dir := w.dir; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&1 == 0 {
			os.Chmod(dir, info.Mode().Perm()|0o055)
		}
	}
}

// asNobody does something as a user who may do nothing in particular. Who calls it is root.
func asNobody[T any](do func() T) T {
	done := make(chan T)
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 0)
		done <- do()
	}()
	return <-done
}

// refusal returns why a use of something by a program that nobody knows is refused.
func refusal(t *testing.T, w *world, use observe.Use, detail string) error {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Dir: w.dir, Report: &observe.Report{
		Programs: []observe.Program{{Path: program}},
		Uses:     []observe.Used{{Use: use, Programs: 1, Detail: detail}},
	}}
	_, err = r.Take()
	return err
}
