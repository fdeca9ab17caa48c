// What programs are told by listings, /proc and the kernel's page of functions.

package observe

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

//jitcache:control JO_CONTROL_TYPES
func TestListingSaysOfWhatTypeNamesAre(t *testing.T) {
	dir := folder(t)
	for _, err := range []error{
		os.MkdirAll(dir+"/in/folder", 0o755), os.WriteFile(dir+"/in/file", nil, 0o644), os.Symlink("file", dir+"/in/link"),
		syscall.Mkfifo(dir+"/in/pipe", 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := observeCommand(t, &Command{Args: []string{"/bin/sh", "-c", "echo in/*"}, Dir: dir, Env: os.Environ(), Stdin: -1})
	n := r.named(dir + "/in")
	if n == nil {
		n = r.named(dir + "/in/")
	}
	if n == nil {
		t.Fatalf("%+v", r.Names)
	}
	slices.Sort(n.Names)
	if want := []string{"file", "folder/d", "link/l", "pipe/p"}; !slices.Equal(n.Names, want) {
		t.Errorf("%q, want %q", n.Names, want)
	}
}

// Programs list what is loaded into them, the kernel's page of functions too.
//
//jitcache:control JO_CONTROL_PAGE
func TestProgramIsToldOfTheKernelsPage(t *testing.T) {
	const page = "linux-vdso.so.1"
	env := append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1")
	modes(t, func(t *testing.T, stops bool) {
		t.Helper()
		for _, plain := range []bool{true, false} {
			c := Command{Args: []string{"/bin/sh"}, Dir: "/", Env: env, Stdin: -1, Plain: plain, Stops: stops}
			told := strings.Contains(string(observeCommand(t, &c).Out), page)
			if plain && !told {
				t.Skip("this kernel or C library has none")
			}
			if !told {
				t.Errorf("no %s", page)
			}
		}
	})
}

//jitcache:control JO_CONTROL_GIVEN
func TestWhatIsReachedFromAGivenFolderIsSeen(t *testing.T) {
	dir := folder(t)
	if err := os.WriteFile(dir+"/x", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, opened.Fd(), syscall.F_DUPFD, 60) // without CLOEXEC
	if errno != 0 {
		t.Fatal(errno)
	}
	defer syscall.Close(int(fd))
	for _, script := range []string{"os.open('x', os.O_RDONLY, dir_fd=%d)", "os.fchdir(%d)", "os.stat('x', dir_fd=%d)", "os.lseek(%d, 0, 1)"} {
		python := "import os; " + fmt.Sprintf(script, fd)
		c := Command{Args: []string{"/usr/bin/env", "python3", "-S", "-I", "-c", python}, Dir: "/", Env: os.Environ(), Stdin: -1, Inherit: true}
		if r := observeCommand(t, &c); !r.used(UseDescriptor) || r.Status != 0 {
			t.Errorf("%s: %+v %s", script, r.Uses, r.Err)
		}
	}
}

//jitcache:control JO_CONTROL_PROC
func TestWhatProcSaysOfNamespacesAndNetworksIsNotTakenForTheTrees(t *testing.T) {
	for path, known := range map[string]bool{
		"/proc/self/ns/uts": false, "/proc/net/dev": false, "/proc/self/net/dev": false, "/proc/self/coredump_filter": false,
		"/proc/self/cgroup": true, "/proc/self/maps": true, "/proc/mounts": true,
	} {
		c := Command{Args: []string{"/bin/sh", "-c", "test -e " + path}, Dir: "/", Env: os.Environ(), Stdin: -1}
		r := observeCommand(t, &c)
		if got := !r.used(UseUnreadable) && !r.used(UseUnknown); got != known {
			t.Errorf("%s: %+v", path, r.Uses)
		}
	}
}

//jitcache:control JO_CONTROL_MOUNTS
func TestWhoAsksWhatIsMountedIsSeen(t *testing.T) {
	for _, path := range []string{"/proc/mounts", "/proc/self/mounts", "/proc/self/mountinfo", "/proc/thread-self/mounts", "/proc/$$/mounts"} {
		if r := sh(t, "/", "read line < "+path); !r.used(UseMounts) {
			t.Errorf("%s: %+v", path, r.Uses)
		}
	}
	if r := sh(t, "/", "read line < /proc/self/stat"); r.used(UseMounts) {
		t.Errorf("%+v", r.Uses)
	}
}
