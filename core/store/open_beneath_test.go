// Nothing is reached through what stands in the way of a path.

package store

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// Things that others may put in the place of a file or folder of the cache, if they may
// write the directory.
var intruders = map[string]func(t *testing.T, path, outside string) error{
	"link to a file":   func(_ *testing.T, path, outside string) error { return os.Symlink(outside+"/file", path) },
	"link to a folder": func(_ *testing.T, path, outside string) error { return os.Symlink(outside+"/folder", path) },
	"link to a FIFO":   func(_ *testing.T, path, outside string) error { return os.Symlink(outside+"/fifo", path) },
	"dangling link":    func(_ *testing.T, path, outside string) error { return os.Symlink(outside+"/folder/new", path) },
	"second name": func(_ *testing.T, path, outside string) error {
		return os.Link(outside+"/file", path)
	},
	"FIFO":   func(_ *testing.T, path, _ string) error { return unix.Mkfifo(path, 0o600) },
	"folder": func(_ *testing.T, path, _ string) error { return os.Mkdir(path, 0o700) },
	"full folder": func(_ *testing.T, path, _ string) error {
		return os.MkdirAll(path+"/a/b", 0o700)
	},
	"socket": func(_ *testing.T, path, _ string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
	"64 GiB of nothing": func(_ *testing.T, path, _ string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 64<<30)
	},
	"/dev/zero": func(t *testing.T, path, _ string) error {
		if os.Geteuid() != 0 {
			t.Skip("needs root")
		}
		return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))
	},
}

// lockPath is the file of a lock.
func lockPath(s *Store, name string) string {
	dir, _ := s.LockDir()
	return filepath.Join(dir, name+lockfile.Suffix)
}

// places are all files and folders of a cache with one entry.
func places(t *testing.T, s *Store) []string {
	t.Helper()
	all := []string{lockPath(s, testKey(t, 1).ID.String())}
	err := filepath.WalkDir(s.root, func(path string, _ fs.DirEntry, err error) error {
		if path != s.root {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 14 {
		t.Fatalf("only %d places: %v", len(all), all)
	}
	return all
}

// outsider makes a folder that the cache must not touch.
func outsider(t *testing.T) string {
	t.Helper()
	dir := quickDir(t)
	if err := os.MkdirAll(dir+"/folder/entries", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "folder/file", "folder/entries/file", "folder/VERSION", "folder/ledger.jclock"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("another's"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// witness describes the content of a folder as text: names, modes, times, contents.
func witness(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%q\n", text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everything makes all calls that a cache has, and ignores their results.
func everything(t *testing.T, root string, before *Store) {
	ctx := context.Background()
	stores := []*Store{before}
	if s, err := Open(Options{Directory: root}); err == nil {
		stores = append(stores, s)
	}
	for _, s := range stores {
		for n := range 3 {
			k := testKey(t, n)
			s.Put(Item{Key: k, Payload: elf(n), Replace: n == 1})
			if b, why := s.Get(&k.ID); why == None {
				if p, err := NewPin(s, t.TempDir(), b); err == nil {
					p.Release()
				}
				b.Release()
			}
			s.Touch(&k.ID)
			s.LastNamed(k.Name)
			s.Stat(&k.ID)
			s.Match(k.ID.String()[:4])
			if l, _ := s.TryLock(k.ID.String(), func() string { return "mine" }); l != nil {
				l.Remove()
			}
			s.ReadLock(k.ID.String())
		}
		s.CountRefused([]byte("cubin"), NoSpace)
		s.Flush()
		s.Usage()
		s.Zero(ctx)
		s.Configure(func(c *Config) { c.MaxSize = 1 << 30 })
		s.Len()
		s.Locks()
		s.Walk(ctx, func(*Entry) error { return nil })
		s.Verify(ctx, false, nil)
		s.Trim(ctx, nil)
		s.Remove(&testKey(t, 2).ID)
		s.Clear(ctx, "cubin", nil)
		s.Clear(ctx, "", nil)
	}
}

// livedIn returns a store that has written everything that it writes.
func livedIn(t *testing.T) *Store {
	t.Helper()
	s := quickStore(t, false)
	put(t, s, testKey(t, 1), elf(1))
	s.Flush()
	return s
}

// Whatever is in the place of a file or folder of the cache: nothing hangs, nothing
// allocates memory of its size, and nothing is read, written, made or removed behind a
// link.
//
//jitcache:control anyfile
//jitcache:control follow
func TestNothingIsReachedThroughWhatStandsInTheWay(t *testing.T) {
	first := livedIn(t)
	for name, make := range intruders {
		for i, place := range places(t, first) {
			for _, openat2 := range []bool{true, false} {
				if testing.Short() && (!openat2 || i%3 != len(name)%3) {
					continue
				}
				t.Run(fmt.Sprintf("%s at %s, openat2 %v", name, strings.TrimPrefix(place, first.root+"/"), openat2), func(t *testing.T) {
					s := livedIn(t)
					meet(t, s, places(t, s)[i], make, openat2)
				})
			}
		}
	}
}

// meet makes all calls on a cache with an intruder in some place.
func meet(t *testing.T, s *Store, place string, intruder func(t *testing.T, path, outside string) error, openat2 bool) {
	outside := outsider(t)
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if err := intruder(t, place, outside); err != nil {
		t.Fatal(err)
	}
	before := witness(t, outside)
	haveOpenat2.Store(openat2)
	defer haveOpenat2.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		everything(t, s.root, s)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		stack := make([]byte, 1<<16)
		t.Fatalf("hangs:\n%s", stack[:runtime.Stack(stack, true)])
	}
	if after := witness(t, outside); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
