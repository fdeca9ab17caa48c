// Which changes of a file are noticed.

package key

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// old gives a file a time stamp that is old enough to prove something.
func old(t *testing.T, path string) {
	t.Helper()
	when := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, tag Tag, path string) ([]byte, Input) {
	t.Helper()
	value, in, err := ReadInput(tag, path)
	if err != nil {
		t.Fatal(err)
	}
	return value, in
}

func TestFileCountsByItsContent(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	write(t, a, "same")
	write(t, b, "same")
	write(t, c, "other")
	va, _ := read(t, File, a)
	vb, _ := read(t, File, b)
	vc, _ := read(t, File, c)
	if string(va) != string(vb) || string(va) == string(vc) {
		t.Errorf("values %x %x %x", va, vb, vc)
	}
	if want := Sum([]byte("same")); string(va) != string(want[:]) {
		t.Errorf("value %x, want %x", va, want)
	}
}

//jitcache:control noinputs
func TestInputThatChangesIsNoticed(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"edited":        func(t *testing.T, path string) { write(t, path, "longer than it was") },
		"same size":     func(t *testing.T, path string) { write(t, path, "CONTENT") },
		"removed":       func(t *testing.T, path string) { os.Remove(path) },
		"now a folder":  func(t *testing.T, path string) { os.Remove(path); os.Mkdir(path, 0o700) },
		"another inode": func(t *testing.T, path string) { write(t, path+"2", "content"); os.Rename(path+"2", path) },
		"same size, time stamp put back": func(t *testing.T, path string) {
			var st syscall.Stat_t
			syscall.Stat(path, &st)
			write(t, path, "CONTENT")
			when := time.Unix(0, st.Mtim.Nano())
			os.Chtimes(path, when, when)
		},
	} {
		for _, age := range []string{"old", "fresh"} {
			t.Run(name+" "+age, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				write(t, path, "content")
				if age == "old" {
					old(t, path)
				}
				_, in := read(t, File, path)
				if why, changed := in.Changed(); changed {
					t.Fatalf("unchanged, but: %s", why)
				}
				change(t, path)
				if _, changed := in.Changed(); !changed {
					t.Error("the change was not noticed")
				}
			})
		}
	}
}

// An edit within one tick of the file system's clock leaves size and time
// stamps as they were; here the stamps are made equal by hand.
//
//jitcache:control noinputs
func TestEditWithinATickIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "content")
	_, in := read(t, File, path)
	write(t, path, "CONTENT")
	_, now := read(t, File, path)
	in.Mtime, in.Ctime, in.Read = now.Mtime, now.Ctime, now.Mtime // as if the change could not be seen
	if _, changed := in.Changed(); !changed {
		t.Error("the change was not noticed")
	}
}

func TestFreshInputThatRestsIsNotRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "content")
	_, in := read(t, File, path)
	if in.Proves() {
		t.Skip("the file system's clock is too coarse or the machine too slow to make a fresh file")
	}
	if why, changed := in.Changed(); changed {
		t.Error(why)
	}
}

func TestInputIsNeverWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := ReadInput(File, path)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a FIFO was read as a file")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("waits for a writer")
	}
}

func TestToolWithABuildIDIsKnownByIt(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// A file of ELF headers and one note, in two copies that differ behind it.
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	elf := elfWithNote([]byte("0123456789abcdef0123"))
	write(t, a, string(elf)+"one")
	write(t, b, string(elf)+"two")
	write(t, c, string(elfWithNote([]byte("another id of 20 byt")))+"one")
	va, _ := read(t, Tool, a)
	vb, _ := read(t, Tool, b)
	vc, _ := read(t, Tool, c)
	if string(va) != "build-id:0123456789abcdef0123" || string(vb) != string(va) || string(vc) == string(va) {
		t.Errorf("identities %q %q %q", va, vb, vc)
	}
	if v, _ := read(t, Tool, exe); len(v) == 0 {
		t.Error("no identity for the test's own binary")
	}
	write(t, a, "#!/bin/sh\n")
	sum := Sum([]byte("#!/bin/sh\n"))
	if v, _ := read(t, Tool, a); string(v) != "content:"+string(sum[:]) {
		t.Errorf("script: %q", v)
	}
}

// elfWithNote returns an ELF header, one program header, and a build id.
func elfWithNote(id []byte) []byte {
	note := append([]byte{4, 0, 0, 0, byte(len(id)), 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}, id...)
	h := make([]byte, 64+56)
	copy(h, "\x7fELF\x02\x01\x01")
	h[32] = 64 // program headers
	h[54], h[56] = 56, 1
	p := h[64:]
	p[0] = 4 // PT_NOTE
	p[8] = 120
	p[32] = byte(len(note))
	return append(h, note...)
}

//jitcache:control noinputs
func TestNameThatAppearsIsNoticed(t *testing.T) {
	for name, appear := range map[string]func(path string) error{
		"a file":             func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":             func(path string) error { return os.Symlink("/dev/null", path) },
		"a file in a folder": func(path string) error { os.Mkdir(path, 0o700); return os.WriteFile(path+"/x", nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			in := NewAbsent(path)
			if name == "a file in a folder" {
				in = NewAbsent(path + "/x")
			}
			if why, changed := in.Changed(); changed {
				t.Fatal(why)
			}
			if err := appear(path); err != nil {
				t.Fatal(err)
			}
			if _, changed := in.Changed(); !changed {
				t.Error("it was not noticed")
			}
		})
	}
}

func TestFolderOfAnAbsentNameIsNoFile(t *testing.T) {
	if why, changed := NewAbsent(t.TempDir()).Changed(); changed {
		t.Error(why)
	}
}

//jitcache:control noinputs
func TestOtherNamesInAFolderAreNoticed(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"one more":    func(dir string) { os.WriteFile(dir+"/new", nil, 0o600) },
		"one less":    func(dir string) { os.Remove(dir + "/old") },
		"another":     func(dir string) { os.Rename(dir+"/old", dir+"/new") },
		"no folder":   func(dir string) { os.RemoveAll(dir) },
		"now a file":  func(dir string) { os.RemoveAll(dir); os.WriteFile(dir, nil, 0o600) },
		"a link":      func(dir string) { os.RemoveAll(dir); os.Symlink("/", dir) },
		"empty again": func(dir string) { os.RemoveAll(dir); os.Mkdir(dir, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			os.Mkdir(dir, 0o700)
			write(t, dir+"/old", "")
			_, value, stamp, err := ReadNames(dir)
			if err != nil {
				t.Fatal(err)
			}
			in := Input{Path: dir, Tag: Folder, Stamp: stamp, Value: value}
			write(t, dir+"/old", "another content")
			if why, changed := in.Changed(); changed {
				t.Fatal(why)
			}
			change(dir)
			if _, changed := in.Changed(); !changed {
				t.Error("it was not noticed")
			}
		})
	}
}
