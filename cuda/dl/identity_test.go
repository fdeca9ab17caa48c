package dl

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func wheel(top string) (p Locations, nvrtc, builtins string) {
	lib := filepath.Join(top, "nvidia/cu13/lib")
	return Locations{Wheels: []string{top}}, filepath.Join(lib, "libnvrtc.so.13"), filepath.Join(lib, "libnvrtc-builtins.so.13.5")
}

func identify(t testing.TB, p Locations) Identity {
	t.Helper()
	_, id, err := Identify(NVRTC, p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
}

func TestIdentityIsThatOfTheContent(t *testing.T) {
	for _, flags := range [][]string{nil, {noBuildID}} {
		top := t.TempDir()
		p, nvrtc, builtins := wheel(filepath.Join(top, "a"))
		build(t, nvrtc, "1", flags...)
		build(t, builtins, "b1", flags...)
		id := identify(t, p)
		q, nvrtc2, builtins2 := wheel(filepath.Join(top, "b"))
		copyFile(t, nvrtc, nvrtc2)
		copyFile(t, builtins, builtins2)
		if copied := identify(t, q); !bytes.Equal(copied.Value, id.Value) {
			t.Errorf("%q: a copy is %q", id.Value, copied.Value)
		}
		build(t, nvrtc2, "2", flags...)
		if other := identify(t, q); bytes.Equal(other.Value, id.Value) {
			t.Errorf("%q: another libnvrtc is the same", id.Value)
		}
		build(t, nvrtc2, "1", flags...)
		build(t, builtins2, "b2", flags...)
		if other := identify(t, q); bytes.Equal(other.Value, id.Value) {
			t.Errorf("%q: other builtins are the same", id.Value)
		}
		if again := identify(t, p); !bytes.Equal(again.Value, id.Value) || len(again.Inputs) != 2 {
			t.Errorf("%q with %v became %q", id.Value, id.Inputs, again.Value)
		}
	}
}

func TestOnlyItsOwnBuiltinsCount(t *testing.T) {
	p, nvrtc, builtins := wheel(t.TempDir())
	build(t, nvrtc, "1")
	build(t, builtins+".37", "b1")
	if err := os.Symlink(filepath.Base(builtins)+".37", builtins); err != nil {
		t.Fatal(err)
	}
	id := identify(t, p)
	lib := filepath.Dir(builtins)
	for _, other := range []string{"libnvrtc-builtins.so.12.9", "libnvrtc-builtins.alt.so.13.5", "libnvrtc.alt.so.13", "libnvrtc-builtins.so.130.1"} {
		build(t, filepath.Join(lib, other), other)
	}
	build(t, nvrtc, "2") // so that it is looked at again
	build(t, nvrtc, "1")
	again := identify(t, p)
	if !bytes.Equal(again.Value, id.Value) || len(again.Inputs) != 2 {
		t.Errorf("%q became %q with %d inputs", id.Value, again.Value, len(again.Inputs))
	}
}

func TestInputsNoticeAReplacedFile(t *testing.T) {
	p, nvrtc, builtins := wheel(t.TempDir())
	build(t, nvrtc, "1")
	build(t, builtins, "b1")
	for i, path := range []string{nvrtc, builtins} {
		id := identify(t, p)
		if len(id.Inputs) != 2 {
			t.Fatalf("%d inputs", len(id.Inputs))
		}
		if _, changed := id.Inputs[i].Changed(); changed || id.Inputs[i].Path != path {
			t.Fatalf("%+v", id.Inputs[i])
		}
		build(t, path, "other")
		if _, changed := id.Inputs[i].Changed(); !changed {
			t.Errorf("%s was replaced, and nothing was noticed", path)
		}
	}
}

// What is loaded is what compiles, whatever lies at its path now.
func TestReplacedFileBehindALoadedLibrary(t *testing.T) {
	for _, how := range []string{"found", "explicit"} {
		t.Run(how, func(t *testing.T) {
			if inChild(t) {
				replaceLoaded(t, how == "explicit")
			}
		})
	}
}

func replaceLoaded(t *testing.T, explicit bool) {
	p, nvrtc, builtins := wheel(t.TempDir())
	if explicit {
		p.Explicit = nvrtc
	}
	build(t, nvrtc, "1")
	build(t, builtins, "b1")
	before := identify(t, p)
	open(t, find(t, NVRTC, p))
	loaded := identify(t, p)
	if !bytes.Equal(loaded.Value, before.Value) || len(loaded.Inputs) != 1 {
		t.Errorf("%q with %d inputs, loaded %q with %d", before.Value, len(before.Inputs), loaded.Value, len(loaded.Inputs))
	}
	build(t, nvrtc, "2")
	if after := identify(t, p); !bytes.Equal(after.Value, before.Value) {
		t.Errorf("%q became %q, which is not loaded", before.Value, after.Value)
	}
	open(t, File{Path: builtins})
	build(t, builtins, "b2")
	if after := identify(t, p); !bytes.Equal(after.Value, before.Value) || len(after.Inputs) != 0 {
		t.Errorf("%q became %q with %d inputs", before.Value, after.Value, len(after.Inputs))
	}
}

func TestLoadedLibraryWithoutBuildID(t *testing.T) {
	if !inChild(t) {
		return
	}
	p, nvrtc, _ := wheel(t.TempDir())
	build(t, nvrtc, "1", noBuildID)
	before := identify(t, p)
	open(t, find(t, NVRTC, p))
	if loaded := identify(t, p); !bytes.Equal(loaded.Value, before.Value) || len(loaded.Inputs) != 1 {
		t.Errorf("%q, loaded %q with %d inputs", before.Value, loaded.Value, len(loaded.Inputs))
	}
	// The kernel knows where the file went.
	if err := os.Rename(nvrtc, nvrtc+".old"); err != nil {
		t.Fatal(err)
	}
	build(t, nvrtc, "2", noBuildID)
	if moved := identify(t, p); !bytes.Equal(moved.Value, before.Value) {
		t.Errorf("%q became %q", before.Value, moved.Value)
	}
	os.Remove(nvrtc + ".old")
	if _, _, err := Identify(NVRTC, p); !errors.Is(err, ErrReplaced) {
		t.Errorf("%v, want ErrReplaced", err)
	}
}

// Under a process that asks all the time, an upgrade gives the old answer, the
// new one, or an error while the file is away, and never anything else.
func TestIdentityDuringAnUpgrade(t *testing.T) {
	p, nvrtc, builtins := wheel(t.TempDir())
	build(t, builtins, "b")
	var known [2]string
	for i, version := range []string{"2", "1"} {
		build(t, nvrtc, version)
		known[i] = string(identify(t, p).Value)
	}
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, id, err := Identify(NVRTC, p)
				if s := string(id.Value); err == nil && s != known[0] && s != known[1] {
					t.Errorf("%q, want %q", s, known)
					return
				}
			}
		})
	}
	os.Remove(nvrtc)
	build(t, nvrtc, "2")
	if s := string(identify(t, p).Value); s != known[0] {
		t.Errorf("after the upgrade %q, want %q", s, known[0])
	}
	close(stop)
	asking.Wait()
}

func TestRealToolkitsDiffer(t *testing.T) {
	p := Locations{Wheels: []string{toolkit(t, "JITCACHE_TEST_CUDA13")}}
	q := Locations{Wheels: []string{toolkit(t, "JITCACHE_TEST_CUDA12")}}
	new, old := identify(t, p), identify(t, q)
	if bytes.Equal(new.Value, old.Value) || len(new.Inputs) != 2 || len(old.Inputs) != 2 {
		t.Errorf("%q of %d files and %q of %d", new.Value, len(new.Inputs), old.Value, len(old.Inputs))
	}
	top := t.TempDir()
	for _, in := range new.Inputs {
		copyFile(t, in.Path, filepath.Join(top, "lib64", filepath.Base(in.Path)))
	}
	if copied := identify(t, Locations{Homes: []string{top}}); !bytes.Equal(copied.Value, new.Value) {
		t.Errorf("%q: a copy is %q", new.Value, copied.Value)
	}
}

// The builtins that were identified are those that libnvrtc asks the loader for.
func TestRealBuiltinsAreThoseThatNVRTCNames(t *testing.T) {
	for _, variable := range []string{"JITCACHE_TEST_CUDA13", "JITCACHE_TEST_CUDA12"} {
		id := identify(t, Locations{Wheels: []string{toolkit(t, variable)}})
		if len(id.Inputs) != 2 {
			t.Fatalf("%d inputs", len(id.Inputs))
		}
		text, err := os.ReadFile(id.Inputs[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(id.Inputs[1].Path); !bytes.Contains(text, []byte("\x00"+name+"\x00")) {
			t.Errorf("%s does not name %s", id.Inputs[0].Path, name)
		}
	}
}

func TestRealLoadedLibraryIsItsFile(t *testing.T) {
	for _, variable := range []string{"JITCACHE_TEST_CUDA13", "JITCACHE_TEST_CUDA12"} {
		t.Run(variable, func(t *testing.T) {
			site := toolkit(t, variable)
			if !inChild(t) {
				return
			}
			p := Locations{Wheels: []string{site}}
			before := identify(t, p)
			open(t, find(t, NVRTC, p))
			open(t, File{Path: before.Inputs[1].Path})
			after := identify(t, p)
			if !bytes.Equal(before.Value, after.Value) || len(after.Inputs) != 0 {
				t.Errorf("%q, loaded %q with %d inputs", before.Value, after.Value, len(after.Inputs))
			}
		})
	}
}
