// How often an image is loaded, and when it is unloaded.

package driver

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"jitcache/cuda/cudatest/host"
	"jitcache/cuda/dl"
)

//jitcache:control notable
func TestSameImageInOneContextIsLoadedOnce(t *testing.T) {
	d, h := open(t, fake)
	c := h.Create(0)
	count := host.Calls(t, "FAKECUDA_LOG")
	a, b, other := load(t, d, ptx("k"), 1), load(t, d, ptx("k"), 1), load(t, d, ptx("k"), 2)
	if a != b || a.Handle() == other.Handle() || count("cuModuleLoadDataEx") != 2 {
		t.Errorf("%d loads, want 2", count("cuModuleLoadDataEx"))
	}
	release(t, a)
	if f, err := b.Function("k"); f == nil || err != nil {
		t.Errorf("one of two was given back: %v", err)
	}
	release(t, b, other)
	if n := count("cuModuleUnload"); n != 2 {
		t.Errorf("%d unloads, want 2", n)
	}
	release(t, load(t, d, ptx("k"), 1))
	if n := count("cuModuleLoadDataEx"); n != 3 {
		t.Errorf("%d loads, want another one", n)
	}
	h.Destroy(c)
}

func TestTwoContextsLoadTwice(t *testing.T) {
	t.Setenv("FAKECUDA_DEVICES", "2")
	d, h := open(t, fake)
	first := h.Create(0)
	a := load(t, d, ptx("k"), 1)
	second := h.Create(1)
	b := load(t, d, ptx("k"), 1)
	if a.Handle() == b.Handle() {
		t.Error("two contexts share a module")
	}
	// Each module is used and unloaded in its own context, whatever is current.
	if _, err := a.Function("k"); err != nil || h.Current() != second {
		t.Errorf("%v", err)
	}
	release(t, a)
	if h.Current() != second {
		t.Error("another context is current than before")
	}
	h.SetCurrent(nil)
	release(t, b)
	if h.Current() != nil {
		t.Error("a context is current, and none was")
	}
	h.Destroy(first)
	h.Destroy(second)
}

//jitcache:control pointer
func TestContextAtAUsedPointerIsAnotherOne(t *testing.T) {
	d, h := open(t, fake)
	c := h.Create(0)
	stale := load(t, d, ptx("k"), 1)
	h.Destroy(c)
	again := h.Create(0)
	if c != again {
		t.Fatal("the fake did not use the pointer again")
	}
	m := load(t, d, ptx("k"), 1)
	if m == stale {
		t.Error("a module of a context that is gone was returned")
	} else if _, err := m.Function("k"); err != nil {
		t.Error(err)
	}
	_, err := stale.Function("k")
	wantError(t, err, "cuCtxGetId", 709)
	release(t, stale)
	if _, err := m.Function("k"); err != nil {
		t.Errorf("unloaded in place of another: %v", err)
	}
	release(t, m)
	h.Destroy(again)
}

// Before 12.0, nothing tells two contexts apart that have had the same pointer.
func TestOldDriverSharesNothing(t *testing.T) {
	d, h := open(t, fakeOld)
	c := h.Create(0)
	a, b := load(t, d, ptx("k"), 1), load(t, d, ptx("k"), 1)
	if a.Handle() == b.Handle() {
		t.Error("shared")
	}
	second := h.Create(0)
	if _, err := a.Function("k"); err != nil || h.Current() != second {
		t.Error(err)
	}
	release(t, a, b)
	h.Destroy(second)
	h.Destroy(c)
}

func TestReleaseAfterTheContextWentIsNoError(t *testing.T) {
	d, h := open(t, fake)
	primary := h.Primary(0)
	h.SetCurrent(primary)
	m := load(t, d, ptx("k"), 1)
	h.Reset(0)
	_, err := m.Function("k")
	wantError(t, err, "cuCtxGetId", 709)
	release(t, m)
	h.SetCurrent(nil)
	c := h.Create(0)
	for _, code := range []string{"3", "4", "201", "400", "709"} {
		m := load(t, d, ptx("k"), 1)
		for _, call := range []string{"cuCtxGetId", "cuModuleUnload"} {
			t.Setenv("FAKECUDA_FAIL", call+"="+code)
			err := m.Release()
			t.Setenv("FAKECUDA_FAIL", "")
			if err != nil {
				t.Errorf("%s: %v", call, err)
			}
			m = load(t, d, ptx("k"), 1)
		}
		release(t, m)
	}
	h.Destroy(c)
}

func TestNoContextIsAnErrorThatSaysSo(t *testing.T) {
	d, _ := open(t, fake)
	_, err := d.Load(ptx("k"), [32]byte{1})
	if !errors.Is(err, ErrNoContext) || !strings.Contains(err.Error(), "cudaFree(0)") || Refused(err) {
		t.Errorf("%v", err)
	}
}

func TestRefusedImage(t *testing.T) {
	t.Setenv("FAKECUDA_CC", "80")
	d, h := open(t, fake)
	c := h.Create(0)
	for name, image := range map[string][]byte{
		"empty":   {},
		"garbage": []byte("no image\x00"),
		"newer":   []byte(".version 8.0\n.target sm_90\n\x00"),
		"no NUL":  bytes.TrimRight(ptx("k"), "\x00")[:20],
	} {
		_, err := d.Load(image, [32]byte{1})
		if !Refused(err) {
			t.Errorf("%s: %v, want the image refused", name, err)
		}
	}
	for code, want := range map[string]bool{
		"1": false, "2": false, "4": false, "200": true, "201": false, "209": true, "218": true, "221": false,
		"222": true, "223": false, "225": true, "300": true, "302": true, "303": true, "304": false, "700": false, "999": false,
	} {
		t.Setenv("FAKECUDA_FAIL", "cuModuleLoadDataEx="+code)
		if _, err := d.Load(ptx("k"), [32]byte{1}); err == nil || Refused(err) != want {
			t.Errorf("%s: %v: refused: %v", code, err, !want)
		}
	}
	t.Setenv("FAKECUDA_FAIL", "")
	m := load(t, d, bytes.TrimRight(ptx("k"), "\x00"), 1) // none of the failures was kept
	_, err := m.Function("none")
	wantError(t, err, "cuModuleGetFunction", 500)
	if Refused(err) || err == nil || !strings.HasSuffix(err.Error(), "named symbol not found (none)") {
		t.Errorf("%v", err)
	}
	release(t, m)
	h.Destroy(c)
}

func TestImageThatIsCutShortDoesNotReachTheDriver(t *testing.T) {
	d, h := open(t, fake)
	c := h.Create(0)
	count := host.Calls(t, "FAKECUDA_LOG")
	elf := make([]byte, 64)
	copy(elf, "\x7fELF\x02\x01\x01")
	elf[40], elf[58], elf[60] = 64, 64, 3 // three sections behind the header
	fatbin := append([]byte("\x50\xed\x55\xba\x01\x00\x10\x00"), 100, 0, 0, 0, 0, 0, 0, 0)
	huge := bytes.Clone(elf)
	for i := 40; i < 48; i++ {
		huge[i] = 0xff
	}
	for _, image := range [][]byte{elf, elf[:20], fatbin, fatbin[:9], huge} {
		if _, err := d.Load(image, [32]byte{1}); !errors.Is(err, ErrImage) || !Refused(err) {
			t.Errorf("%x: %v", image, err)
		}
	}
	if n := count("cuModuleLoadDataEx"); n != 0 {
		t.Errorf("the driver saw %d of them", n)
	}
	h.Destroy(c)
}

func TestContextThatCannotBePopped(t *testing.T) {
	d, h := open(t, fake)
	a := h.Create(0)
	m := load(t, d, ptx("k"), 1)
	b := h.Create(0)
	t.Setenv("FAKECUDA_FAIL", "cuCtxPopCurrent_v2=999:1")
	_, err := m.Function("k")
	wantError(t, err, "cuCtxPopCurrent_v2", 999)
	h.SetCurrent(b)
	release(t, m)
	h.Destroy(b)
	h.Destroy(a)
}

//jitcache:control notable
func TestThreadsLoadOnce(t *testing.T) {
	d, h := open(t, fake)
	c := h.Create(0)
	count := host.Calls(t, "FAKECUDA_LOG")
	const threads, rounds = 8, 50
	held := make([]*Module, threads)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	for i := range held {
		done.Go(func() {
			runtime.LockOSThread() // never unlocked, so that the thread ends
			h.SetCurrent(c)
			ready.Done()
			ready.Wait()
			for range rounds {
				m := load(t, d, ptx("k"), 1)
				if _, err := m.Function("k"); err != nil {
					t.Error(err)
				}
				if held[i] != nil {
					release(t, held[i])
				}
				held[i] = m
			}
		})
	}
	done.Wait()
	if n := count("cuModuleLoadDataEx"); n != 1 {
		t.Errorf("%d loads, want 1", n)
	}
	release(t, held...)
	if n := count("cuModuleUnload"); n != 1 || len(d.modules) != 0 {
		t.Errorf("%d unloads, %d modules left", n, len(d.modules))
	}
	h.Destroy(c)
}

func TestThreadsThatWaitForARefusedImageGetTheError(t *testing.T) {
	d, h := open(t, fake)
	c := h.Create(0)
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			runtime.LockOSThread()
			h.SetCurrent(c)
			for range 20 {
				if m, err := d.Load([]byte("garbage"), [32]byte{1}); m != nil || !Refused(err) {
					t.Errorf("%v, %v", m, err)
				}
			}
		})
	}
	done.Wait()
	if len(d.modules) != 0 {
		t.Errorf("%d modules left", len(d.modules))
	}
	h.Destroy(c)
}

// Images of real compilers must pass our check and the fake's check, to the last byte.
func TestCubinsOfCompilersLoad(t *testing.T) {
	compilers := []string{filepath.Join(folder, "libnvrtc.so.13")}
	if err := host.Build(compilers[0]); err != nil {
		t.Fatal(err)
	}
	if site := os.Getenv("JITCACHE_TEST_CUDA13"); site != "" {
		compilers = append(compilers, site+"/nvidia/cu13/lib/libnvrtc.so.13")
	}
	if site := os.Getenv("JITCACHE_TEST_CUDA12"); site != "" {
		compilers = append(compilers, site+"/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
	}
	d, h := open(t, fake)
	for _, path := range compilers {
		for _, arch := range []string{"80", "90", "90a", "120"} {
			t.Setenv("FAKECUDA_CC", strings.TrimSuffix(arch, "a"))
			c := h.Create(0)
			image := compile(t, path, arch)
			m := load(t, d, image, 1)
			if _, err := m.Function("k"); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			release(t, m)
			if _, err := d.Load(image[:len(image)-1], [32]byte{1}); !errors.Is(err, ErrImage) {
				t.Errorf("%s, cut by a byte: %v", path, err)
			}
			t.Setenv("FAKECUDA_CC", "75")
			if _, err := d.Load(image, [32]byte{1}); !Refused(err) {
				t.Errorf("%s for another device: %v", path, err)
			}
			h.Destroy(c)
		}
	}
}

func compile(t *testing.T, path, arch string) []byte {
	t.Helper()
	file, err := dl.Find(dl.NVRTC, dl.Locations{Explicit: path})
	if err != nil {
		t.Fatal(err)
	}
	library, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	image, log, code := host.Compile(library, host.Source{
		Text: "extern \"C\" __global__ void k(float *x) { x[0] = 1; }", Name: "k.cu", Options: []string{"-arch=sm_" + arch},
	})
	if code != 0 {
		t.Fatal(log)
	}
	return image
}

func BenchmarkLoadKnown(b *testing.B) {
	b.Setenv("FAKECUDA_CC", "80")
	runtime.LockOSThread()
	d, h := openBench(b)
	c := h.Create(0)
	image := ptx("k")
	keep := load(b, d, image, 1)
	for b.Loop() {
		release(b, load(b, d, image, 1))
	}
	release(b, keep)
	h.Destroy(c)
}

func BenchmarkArch(b *testing.B) {
	runtime.LockOSThread()
	d, h := openBench(b)
	c := h.Create(0)
	for b.Loop() {
		if _, err := d.Arch(); err != nil {
			b.Fatal(err)
		}
	}
	h.Destroy(c)
}
