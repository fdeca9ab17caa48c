package record

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// A folder may be entered that may not be listed: each name is asked for.
func TestNameThatAppearsInAFolderThatMayNotBeListedIsNoticed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	w := newWorld(t)
	w.put("dark/there", "")
	os.Chmod(w.dir+"/dark", 0o711)
	f := Folder{Path: w.dir + "/dark", Absent: []string{"there"}}
	for len(f.Absent) <= 64 {
		f.Absent = append(f.Absent, "none"+strings.Repeat("x", len(f.Absent)))
	}
	for dir := w.dir; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&1 == 0 {
			os.Chmod(dir, info.Mode().Perm()|0o055)
		}
	}
	said := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends with the goroutine
		syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 0)
		if unix.Access(w.dir+"/dark", unix.R_OK) == nil {
			t.Error("it may be listed")
		}
		said <- (&taker{run: &Run{Dir: w.dir, Report: &observe.Report{}}, list: &List{}, reals: map[string]string{}}).settle(&f)
	}()
	if err := <-said; err == nil || !strings.Contains(err.Error(), "there: appeared meanwhile") {
		t.Error(err)
	}
}
