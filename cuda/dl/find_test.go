// Which library is found, of many places.

package dl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBestPlaceIsFoundFirst(t *testing.T) {
	top := t.TempDir()
	p := Locations{
		Wheels: []string{filepath.Join(top, "first"), filepath.Join(top, "second")},
		Homes:  []string{filepath.Join(top, "home"), filepath.Join(top, "other")},
	}
	if f, err := Find(NVRTC, p); err == nil {
		t.Skipf("this machine has %s", f.Path)
	}
	order := []string{
		"first/nvidia/cu14/lib/libnvrtc.so.14",
		"first/nvidia/cu13/lib/libnvrtc.so.13",
		"first/nvidia/cu9/lib/libnvrtc.so.13",
		"first/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
		"second/nvidia/cu14/lib/libnvrtc.so.14",
		"home/lib64/libnvrtc.so.12",
		"home/lib64/libnvrtc.so.11.2",
		"home/lib64/libnvrtc.so",
		"home/lib/libnvrtc.so.13",
		"home/" + targets["amd64"] + "/libnvrtc.so.13",
		"other/lib64/libnvrtc.so.13",
	}
	one := build(t, filepath.Join(top, "one.so"), "1")
	for _, name := range order {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(one, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range order {
		path := filepath.Join(top, name)
		if f := find(t, NVRTC, p); f.Path != path || f.Loaded() {
			t.Fatalf("found %s, want %s", f.Path, path)
		}
		os.Remove(path) // the next call must look again
	}
}

func TestExplicitPathIsTheOnlyPlace(t *testing.T) {
	top := t.TempDir()
	good := build(t, filepath.Join(top, "nvidia/cu13/lib/libnvrtc.so.13"), "1")
	alt := build(t, filepath.Join(top, "libnvrtc.alt.so.12"), "2")
	p := Locations{Explicit: alt, Wheels: []string{top}}
	if f := find(t, NVRTC, p); f.Path != alt {
		t.Errorf("found %s, want %s", f.Path, alt)
	}
	for path, want := range map[string]string{
		filepath.Join(top, "gone.so"): "no such file",
		top:                           "not a regular file",
		"find_test.go":                "not an absolute path",
	} {
		p.Explicit = path
		f, err := Find(NVRTC, p)
		var nowhere *NotFound
		if err == nil || errors.As(err, &nowhere) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("explicit %s: %v, %v, want an error with %q", path, f.Path, err, want)
		}
	}
	p.Explicit = ""
	if f := find(t, NVRTC, p); f.Path != good {
		t.Errorf("found %s, want %s", f.Path, good)
	}
}

func TestWhatTheLoaderWouldNotTakeIsPassedOver(t *testing.T) {
	top := t.TempDir()
	lib := filepath.Join(top, "nvidia/cu13/lib")
	good := build(t, filepath.Join(lib, "libnvrtc.so.12"), "1")
	build(t, filepath.Join(lib, "libnvrtc.alt.so.13"), "2")
	if err := os.WriteFile(filepath.Join(lib, "libnvrtc.so.13"), []byte("INPUT(libnvrtc.so.12)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(lib, "libnvrtc.so.14"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(lib, "libnvrtc.so.15"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f := find(t, NVRTC, Locations{Wheels: []string{top}}); f.Path != good {
		t.Errorf("found %s, want %s", f.Path, good)
	}
}

func TestNotFoundNamesAllThatWasTried(t *testing.T) {
	if _, err := Find(CUDA, Locations{}); err == nil {
		t.Skip("this machine has a driver")
	}
	_, err := Find(CUDA, Locations{Wheels: []string{"/site"}})
	var missing *NotFound
	if !errors.As(err, &missing) {
		t.Fatalf("%v, want a *NotFound", err)
	}
	for _, want := range append([]string{"libcuda.so.1", "/usr/lib/wsl/lib", loaderCache}, loaderFolders()...) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "/site") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
	_, err = Find(NVRTC, Locations{Wheels: []string{"/site"}, Homes: []string{"/home"}})
	if err == nil {
		t.Skip("this machine has NVRTC")
	}
	for _, want := range []string{"libnvrtc.so.13", "/site/nvidia/cuda_nvrtc/lib", "/home/lib64", loaderCache} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestLoaderFoldersAreThoseOfTheProcess(t *testing.T) {
	top := os.Getenv("LD_LIBRARY_PATH")
	if os.Getenv("JITCACHE_TEST_CHILD") == "" {
		top = t.TempDir()
		build(t, filepath.Join(top, "libnvrtc.so.12"), "1")
		build(t, filepath.Join(top, "libcuda.so.1"), "1")
	}
	if !inChild(t, "LD_LIBRARY_PATH="+top) {
		return
	}
	for w, name := range map[Wanted]string{NVRTC: "libnvrtc.so.12", CUDA: "libcuda.so.1"} {
		if f := find(t, w, Locations{}); f.Path != filepath.Join(top, name) {
			t.Errorf("found %s, want it in %s", f.Path, top)
		}
	}
	open(t, find(t, NVRTC, Locations{}))
	// The loader reads the variable only when the process starts.
	t.Setenv("LD_LIBRARY_PATH", "/elsewhere")
	if f := find(t, CUDA, Locations{}); f.Path != filepath.Join(top, "libcuda.so.1") {
		t.Errorf("found %s", f.Path)
	}
}

func TestLoaderCacheIsRead(t *testing.T) {
	if _, err := os.Stat(loaderCache); err != nil {
		t.Skip("this machine has no " + loaderCache)
	}
	if path := cached("libc.so.6"); !loadable(path) {
		t.Errorf("libc.so.6 is %q", path)
	}
	if path := cached("libjitcache-none.so"); path != "" {
		t.Errorf("found %s", path)
	}
}

func TestLoadedLibraryComesBeforeFiles(t *testing.T) {
	if !inChild(t) {
		return
	}
	top := t.TempDir()
	p := Locations{Wheels: []string{top}}
	build(t, filepath.Join(top, "nvidia/cu13/lib/libnvrtc.so.13"), "file")
	if f := find(t, NVRTC, p); f.Loaded() {
		t.Fatalf("%s is loaded", f.Path)
	}
	// The library that the loader was asked for must not be mistaken for another.
	for i, name := range []string{"libnvrtc-builtins.so.13.5", "libnvrtc.alt.so.14", "libnvrtcx.so.14", "libnvrtc-0a1b2c3d.so.12"} {
		f := find(t, NVRTC, p)
		if f.Loaded() {
			t.Fatalf("%s was taken", f.Path)
		}
		open(t, File{Path: build(t, filepath.Join(top, name), string(rune('a'+i)))})
	}
	f := find(t, NVRTC, p)
	if !f.Loaded() || filepath.Base(f.Path) != "libnvrtc-0a1b2c3d.so.12" {
		t.Fatalf("found %s", f.Path)
	}
	if l := open(t, f); l.Symbol("version") == nil || l.handle != open(t, f).handle {
		t.Error("opened another library than the one that is loaded")
	}
	newer := build(t, filepath.Join(top, "host/libnvrtc.so.13"), "newer")
	open(t, File{Path: newer})
	if f := find(t, NVRTC, p); f.Path != newer {
		t.Errorf("found %s, want the newer one", f.Path)
	}
}

func TestSymbolsSayWhatIsMissing(t *testing.T) {
	if !inChild(t) {
		return
	}
	l := open(t, File{Path: build(t, filepath.Join(t.TempDir(), "libnvrtc.so.13"), "1")})
	found, err := l.Symbols("version", "?more")
	if err != nil || found[0] == nil || found[1] != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := l.Symbols("less", "version", "more"); err == nil || !strings.Contains(err.Error(), "less, more") {
		t.Errorf("%v", err)
	}
}

func TestOpenSaysWhatTheLoaderSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libnvrtc.so.13")
	if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := find(t, NVRTC, Locations{Explicit: path}).Open()
	if err == nil || !strings.Contains(err.Error(), "invalid ELF header") && !strings.Contains(err.Error(), "file too short") {
		t.Errorf("%v", err)
	}
}

func TestUnloadedLibraryIsNotLoadedAfresh(t *testing.T) {
	f := File{Path: build(t, filepath.Join(t.TempDir(), "libnvrtc.so.13"), "1"), image: &image{}}
	if _, err := f.Open(); err == nil {
		t.Error("a library that is loaded no more was opened")
	}
}
