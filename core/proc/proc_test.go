// Reading small files of /proc, whole or in part.

package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadIsTheWholeFileOrItsBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	whole := bytes.Repeat([]byte("0123456789"), 1000)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{0, 1, 64, len(whole) - 1, len(whole), len(whole) + 1} {
		got, err := Read(path, most)
		if want := whole[:min(most, len(whole))]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("of %d bytes at most: %d bytes, %v; want %d", most, len(got), err, len(want))
		}
	}
	if got, err := Read("/proc/self/stat", 4<<10); err != nil || len(got) == 0 {
		t.Errorf("/proc/self/stat: %q, %v", got, err)
	}
}

// A pipe gives its bytes in pieces, as /proc may.
func TestReadGoesOnAfterAPiece(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer f.Close()
		for _, piece := range []string{"one ", "two ", "three"} {
			f.WriteString(piece)
		}
	}()
	if got, err := Read(path, 64); err != nil || string(got) != "one two three" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadSaysWhyNot(t *testing.T) {
	for path, want := range map[string]error{"/proc/nobody": unix.ENOENT, "/proc": unix.EISDIR} {
		if got, err := Read(path, 64); err != want || got != nil {
			t.Errorf("%s: %q, %v; want %v", path, got, err, want)
		}
	}
}
