// Questions about permissions and attributes.

package observe

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Who asks for what is not there may be told it another time.
//
//jitcache:control JO_CONTROL_ATTRIBUTES
func TestWhoAsksForAttributesInVainIsSeen(t *testing.T) {
	play(t, "calls", "asks_for_attributes", little, func(t *testing.T, dir string, r *Report) {
		t.Helper()
		r.uses(t)
		for name, want := range map[string][]uint32{"f": {Attributes}, "sub/f": {Attributes, Flags}} {
			n := r.named(dir + "/" + name)
			for _, how := range want {
				if n == nil || !slices.ContainsFunc(n.Permits, func(p Permit) bool { return p.How == how }) {
					t.Errorf("%s: %d: %+v", name, how, n)
				}
			}
		}
	})
}

// A folder that somebody may not write, and one that he may not enter.
//
//jitcache:control JO_CONTROL_PERMITS
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
