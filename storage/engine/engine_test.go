// What every engine does alike.

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func TestEngineGivesBackWhatItWasGiven(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		ctx := within(t)
		if err := e.Probe(ctx); err != nil {
			t.Errorf("probe: %v", err)
		}
		if _, err := e.Get(ctx, aName(0), 100); !errors.Is(err, ErrNotFound) {
			t.Errorf("absent: %v", err)
		}
		if removed, err := e.Remove(ctx, aName(0)); removed || err != nil {
			t.Errorf("absent: removed %v, %v", removed, err)
		}
		for i, n := range []int{1, 1000, atOnce - 1, atOnce, atOnce + 1, 5 << 20} {
			value := noise(n)
			if stored, err := e.Put(ctx, aName(i), value, true); !stored || err != nil {
				t.Fatalf("%d: stored %v, %v", n, stored, err)
			}
			got, err := e.Get(ctx, aName(i), int64(n))
			if err != nil || !bytes.Equal(got, value) {
				t.Errorf("%d: got %d, %v", n, len(got), err)
			}
			if _, err := e.Get(ctx, aName(i), int64(n-1)); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%d: above the limit: %v", n, err)
			}
		}
		if removed, err := e.Remove(ctx, aName(1)); !removed || err != nil {
			t.Errorf("removed %v, %v", removed, err)
		}
		if _, err := e.Get(ctx, aName(1), 10000); !errors.Is(err, ErrNotFound) {
			t.Errorf("removed: %v", err)
		}
	})
}

func TestPutKeepsWhatIsThereUnlessAskedNotTo(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		ctx := within(t)
		for i, step := range []struct {
			value     string
			overwrite bool
			stored    bool
			then      string
		}{{"one", false, true, "one"}, {"two", false, false, "one"}, {"three", true, true, "three"}, {"four", false, false, "three"}} {
			stored, err := e.Put(ctx, aName(7), []byte(step.value), step.overwrite)
			got, _ := e.Get(ctx, aName(7), 100)
			if stored != step.stored || err != nil || string(got) != step.then {
				t.Errorf("%d: stored %v, %v; then %q", i, stored, err, got)
			}
		}
	})
}

func TestValuesArePutAndReadByManyAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, e Engine) {
		ctx := within(t)
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				value := bytes.Repeat([]byte{byte(i)}, 10000)
				if _, err := e.Put(ctx, aName(i), value, true); err != nil {
					t.Error(err)
				}
				if got, err := e.Get(ctx, aName(i), 1<<20); err != nil || !bytes.Equal(got, value) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
		group.Wait()
	})
}

func TestNamesAreWhereOtherClientsHaveThem(t *testing.T) {
	digits := "0123456789abcdef0123456789abcdef01234567"
	theirs := Name{[]string{digits}}
	for layout, want := range map[string]string{
		"subdirs": "01/" + digits[2:], "flat": digits, "bazel": "ac/" + digits + digits[:24],
	} {
		if got := theirs.pathIn(layout); got != want {
			t.Errorf("%s: %s, want %s", layout, got, want)
		}
	}
	if got := (&inRedis{}).keyOf(theirs); got != "ccache:"+digits {
		t.Error(got)
	}
	ours := Name{[]string{"jitcache", "1", "team", strings.Repeat("ab", 32)}}
	if got := ours.pathIn("bazel"); got != "jitcache/1/team/ab/"+strings.Repeat("ab", 31) {
		t.Error(got)
	}
	if got := (&inRedis{}).keyOf(ours); got != "jitcache:1:team:"+strings.Repeat("ab", 32) {
		t.Error(got)
	}
}

func TestWrongSettingsAreErrorsThatShowNoPassword(t *testing.T) {
	for _, c := range []struct {
		url        string
		attributes map[string]string
	}{
		{"ftp://user:hunter2@host/", nil},
		{"redis://user:hunter2@host:port", nil},
		{"redis://user:hunter2@host/no-number", nil},
		{"redis://:hunter2@host", map[string]string{"ttl": "soon"}},
		{"redis://:hunter2@host", map[string]string{"no-such": "1"}},
		{"redis://:hunter2@host", map[string]string{"timeout": "-1s"}},
		{"redis://:hunter2@host", map[string]string{"max-object": "2000000000"}},
		{"redis://:hunter2@host", map[string]string{"max-object": "64M"}},
		{"rediss://:hunter2@host", map[string]string{"ca-file": "/nowhere"}},
		{"http:///path", nil},
		{"http://user:hunter2@host", map[string]string{"layout": "tree"}},
		{"http://user:hunter2@host", map[string]string{"header": "X"}},
		{"s3://user:hunter2@bucket/", nil},
		{"s3://bucket/?endpoint=ftp://x", nil},
		{"file://host/dir", nil},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			continue // settings are refused before
		}
		_, err = Open(&Config{u, c.attributes})
		if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %v: %v", c.url, c.attributes, err)
		}
	}
}

// What is in a directory that others may write is looked at and not followed.
func TestOnlyFilesAreValues(t *testing.T) {
	dir := t.TempDir()
	e := open(t, "file://"+dir, nil)
	if _, err := e.Put(within(t), aName(1), []byte("x"), true); err != nil {
		t.Fatal(err)
	}
	path := e.(*waited).Engine.(*inFile).pathOf(aName(1))
	for name, make := range map[string]func() error{
		"link":   func() error { return os.Symlink("/etc/passwd", path) },
		"folder": func() error { return os.Mkdir(path, 0o777) },
		"pipe":   func() error { return mkfifo(path) },
		"device": func() error { return os.Symlink("/dev/zero", path) },
	} {
		os.RemoveAll(path)
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Get(within(t), aName(1), 1<<20); err == nil {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func TestDirectoryThatIsNotMountedIsNotMade(t *testing.T) {
	dir := t.TempDir() + "/mount"
	e := open(t, "file://"+dir, nil)
	if stored, err := e.Put(within(t), aName(1), []byte("x"), true); stored || err == nil {
		t.Errorf("stored %v, %v", stored, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was made")
	}
}

// A helper has a umask for its socket. What it makes in a directory that users share is theirs, too.
//
//jitcache:control ownfolders
func TestFoldersOfADirectoryThatUsersShareAreForAllOfThem(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o777 | fs.ModeSticky, 0o775 | fs.ModeSetgid, 0o700} {
		root := fmt.Sprintf("%s/%o", dir, mode.Perm())
		os.Mkdir(root, 0o700)
		os.Chmod(root, mode)
		e := open(t, "file://"+root, nil)
		if stored, err := e.Put(context.Background(), aName(1), []byte("value"), true); !stored || err != nil {
			t.Fatal(stored, err)
		}
		filepath.WalkDir(root, func(path string, d fs.DirEntry, _ error) error {
			info, err := d.Info()
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky); d.IsDir() && got != mode {
				t.Errorf("%s: %v, and its root %v", path, got, mode)
			}
			return nil
		})
	}
}

// A path that is mistyped, or a disk that is not mounted, is told from a value that is absent.
func TestDirectoryThatIsMissingIsSaidToBe(t *testing.T) {
	e := open(t, "file://"+t.TempDir()+"/none", nil)
	if stored, err := e.Put(within(t), aName(1), []byte("x"), true); stored || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("stored %v, %v", stored, err)
	}
}
