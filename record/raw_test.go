// What is read without Go's poller is what Go reads, and links are followed as Go follows them.

package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRealPathsAreThoseOfEvalSymlinks(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(top, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(top, "a/b/f"), nil, 0o644)
	for name, text := range map[string]string{
		"to_b": "a/b", "a/up": "..", "a/b/root": "/", "d/absolute": filepath.Join(top, "to_b"), "loop": "loop", "nowhere": "gone/x", "a/b/to_f": "f",
	} {
		if err := os.Symlink(text, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b", "c", "d", "f", "to_b", "up", "root", "absolute", "loop", "nowhere", "to_f", "gone", ".", "..", ""}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 40 {
		tk := taker{reals: map[string]string{}}
		for range 100 {
			path := top
			for range random.IntN(6) {
				path += "/" + names[random.IntN(len(names))]
			}
			want, _ := filepath.EvalSymlinks(path)
			if got := tk.real(path); got != want {
				t.Fatalf("%s: %q, want %q", path, got, want)
			}
			if want != "" {
				found++
			}
		}
	}
	if found < 1000 {
		t.Fatalf("only %d of 4,000 paths led somewhere", found)
	}
}

//jitcache:control norestamped
func TestAFileIsReadAsStampedOnlyWithThatStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.h")
	stampOf := func() *Stamp {
		s := status{Read: now()}
		if errno := s.At(ended(path), 0); errno != 0 {
			t.Fatal(errno)
		}
		return &s.Stamp
	}
	write := func(text string) *Stamp {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return stampOf()
	}
	for _, text := range []string{"", "int f(void);\n", strings.Repeat("x", 100_000)} {
		was := write(text)
		if data := readAsStamped(path, was); data == nil || string(data) != text {
			t.Fatalf("%d bytes became %d", len(text), len(data))
		}
	}
	for what, change := range map[string]func(){
		"longer":     func() { write("one and two") },
		"the same":   func() { write("two") },
		"another":    func() { os.Remove(path); write("one") },
		"gone":       func() { os.Remove(path) },
		"not a file": func() { os.Remove(path); syscall.Mkfifo(path, 0o644) },
	} {
		os.Remove(path)
		was := write("one")
		time.Sleep(20 * time.Millisecond)
		change()
		if readAsStamped(path, was) != nil {
			t.Errorf("a file that is %s was read as the one before", what)
		}
	}
}

func TestANameIsFoundAmongLinesAsAmongTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var texts []string
		for range random.IntN(40) {
			name := make([]byte, 4+random.IntN(4))
			for i := range name {
				name[i] = "AB_"[random.IntN(3)]
			}
			if text := string(name); random.IntN(2) == 0 {
				texts = append(texts, text+whole)
			} else {
				texts = append(texts, text)
			}
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
		for range 100 {
			name := fmt.Sprintf("%c%c%c%c", "AB_"[random.IntN(3)], "AB_"[random.IntN(3)], "AB_"[random.IntN(3)], "AB_"[random.IntN(3)])
			back := reversed(name)
			if !strings.Contains(name, "_") {
				back += whole
			}
			want := slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, back) })
			if got := hasName(strings.Join(texts, "\n"), name); got != want {
				t.Fatalf("%s in %q: %v", name, texts, got)
			}
		}
	}
}
