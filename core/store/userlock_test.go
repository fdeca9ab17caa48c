// Locks of a user, for all directories.

package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/lockfile"
)

// usePlaces replaces the folders in which a user's own is made.
func usePlaces(t *testing.T, dirs ...string) {
	before := userPlaces
	userPlaces = dirs
	t.Cleanup(func() { userPlaces = before })
}

func TestUserLockIsOneForAllDirectories(t *testing.T) {
	usePlaces(t, t.TempDir())
	one, two := open(t), open(t)
	if one.Root() == two.Root() {
		t.Fatal("one directory")
	}
	held, err := one.TryUserLock("slot")
	if held == nil || err != nil {
		t.Fatal(held, err)
	}
	if again, err := two.TryUserLock("slot"); again != nil || err != nil {
		t.Errorf("%v, %v: two have it", again, err)
	}
	other, err := two.TryUserLock("other")
	if other == nil || err != nil {
		t.Fatal(other, err)
	}
	other.Remove()
	held.Remove()
	if again, err := two.TryUserLock("slot"); again == nil || err != nil {
		t.Errorf("%v, %v: it was given up", again, err)
	} else {
		again.Remove()
	}
}

func TestFolderOfAnotherUserHasNoUserLock(t *testing.T) {
	dir := t.TempDir()
	usePlaces(t, dir)
	s := open(t)
	held, err := s.TryUserLock("slot")
	if held == nil || err != nil {
		t.Fatal(held, err)
	}
	held.Remove()
	own, _ := filepath.Glob(filepath.Join(dir, "jitcache-*"))
	if len(own) != 1 {
		t.Fatal(own)
	}
	refused := func(what string) {
		t.Helper()
		if l, err := s.TryUserLock("slot"); l != nil || !errors.Is(err, lockfile.ErrUnsupported) {
			t.Errorf("%s: %v, %v", what, l, err)
		}
	}
	if err := os.Chmod(own[0], 0o777); err != nil {
		t.Fatal(err)
	}
	refused("that anybody may write")
	if err := errors.Join(os.RemoveAll(own[0]), os.Symlink(t.TempDir(), own[0])); err != nil {
		t.Fatal(err)
	}
	refused("a link")
}
