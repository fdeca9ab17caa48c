package observe

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that somebody may not write, and one that he may not enter.
func TestWhatMayBeDoneIsTold(t *testing.T) {
	asRoot(t)
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		for name, mode := range map[string]os.FileMode{"shut": 0o555, "dark": 0o644, "open": 0o755} {
			os.Mkdir(dir+"/"+name, mode)
			os.Chown(dir+"/"+name, 1000, 1000)
		}
		script := "test -w shut; test -w open; cd dark; mkdir shut/f; cd open"
		r := observeAs(t, 1000, Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir, Stops: stops})
		if r.Status != 0 {
			t.Fatalf("%v: %s", r.Status, r.Err)
		}
		for name, want := range map[string]Permit{
			"shut": {unix.W_OK | Effective, syscall.EACCES}, "open": {unix.W_OK | Effective, 0}, "dark": {unix.X_OK | Effective, syscall.EACCES},
		} {
			if n := r.named(dir + "/" + name); n == nil || !slices.Contains(n.Permits, want) {
				t.Errorf("%s: %+v", name, n)
			}
		}
		if !slices.Contains(r.named(dir+"/open").Permits, Permit{unix.X_OK | Effective, 0}) {
			t.Errorf("open is entered: %+v", r.named(dir+"/open").Permits)
		}
		if !slices.ContainsFunc(r.Uses, func(u Used) bool { return u.Use == UseDenied && u.Detail == dir+"/shut/f" }) {
			t.Errorf("%+v", r.Uses)
		}
	})
}
