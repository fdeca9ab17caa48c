// Files are written whole, or stay as they were.

package cli

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

func TestFileIsWrittenWholeOrStaysAsItWas(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(dir+"/file", []byte("old"), 0o640)
	os.Symlink("file", dir+"/link")
	full := func(to io.Writer) error {
		io.WriteString(to, "ne")
		return syscall.ENOSPC
	}
	for _, name := range []string{"/file", "/link", "/none"} {
		if err := writeWhole(dir+name, full); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("%d files are left", len(names))
	}
	if text, _ := os.ReadFile(dir + "/file"); string(text) != "old" {
		t.Errorf("%q", text)
	}
	err := writeWhole(dir+"/link", func(to io.Writer) error {
		_, err := io.WriteString(to, "new")
		return err
	})
	info, _ := os.Lstat(dir + "/link")
	old, _ := os.Stat(dir + "/file")
	if text, _ := os.ReadFile(dir + "/file"); err != nil || string(text) != "new" || info.Mode()&os.ModeSymlink == 0 || old.Mode() != 0o640 {
		t.Errorf("%v, %q, %v, %v", err, text, info.Mode(), old.Mode())
	}
}

// A disk that is full for a moment leaves a part of the layout. The next init completes it.
func TestInitGoesOnWhereAnotherWasCutOff(t *testing.T) {
	u := newAccount(t)
	for _, left := range [][]string{{"/v1"}, {"/v1", "/v1/entries", "/CACHEDIR.TAG"}, {"/v1", "/v1/VERSION"}} {
		dir := t.TempDir() + "/new"
		os.Mkdir(dir, 0o700)
		for _, name := range left {
			if name == "/v1" || name == "/v1/entries" {
				os.Mkdir(dir+name, 0o700)
			} else {
				os.WriteFile(dir+name, nil, 0o600)
			}
		}
		if _, errs, status := u.run("init", dir); status != 0 {
			t.Errorf("%v: %s", left, errs)
		}
		if _, _, status := u.run("init", dir); status != 2 {
			t.Errorf("%v: init of a cache: status %d", left, status)
		}
	}
}
