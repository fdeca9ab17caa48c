// Opening the driver, and the architecture of a device.

package driver

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jitcache/cuda/cudatest/host"
	"jitcache/cuda/dl"
)

// The fakes, built once: a driver, and one from before CUDA 12.
var (
	folder   string
	fake     string
	fakeOld  string
	variable = []string{"FAKECUDA_DEVICES", "FAKECUDA_CC", "FAKECUDA_FAIL", "FAKECUDA_LOG"}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "driver"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	fake, fakeOld = filepath.Join(folder, "libcuda.so.1"), filepath.Join(folder, "old", "libcuda.so.1")
	if err := errors.Join(host.Build(fake), host.Build(fakeOld, "-DFAKECUDA_OLD")); err != nil {
		panic(err)
	}
	for _, name := range variable {
		os.Unsetenv(name)
	}
	return m.Run()
}

func openBench(b *testing.B) (*Driver, host.Host) {
	b.Helper()
	p := dl.Locations{Explicit: fake}
	d, err := Open(p)
	if err != nil {
		b.Fatal(err)
	}
	file, _ := dl.Find(dl.CUDA, p)
	library, err := file.Open()
	if err != nil {
		b.Fatal(err)
	}
	return d, host.Host{Symbols: library}
}

// open opens a fake, and locks the test to its thread. The thread has no current context
// before and after.
func open(t *testing.T, path string) (*Driver, host.Host) {
	t.Helper()
	p := dl.Locations{Explicit: path}
	d, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	file, err := dl.Find(dl.CUDA, p)
	if err != nil {
		t.Fatal(err)
	}
	library, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	h := host.Host{Symbols: library}
	runtime.LockOSThread()
	t.Cleanup(func() {
		os.Unsetenv("FAKECUDA_FAIL") // a failed test may have left it set
		h.SetCurrent(nil)
		runtime.UnlockOSThread()
	})
	h.SetCurrent(nil)
	return d, h
}

func load(t testing.TB, d *Driver, image []byte, id byte) *Module {
	t.Helper()
	m, err := d.Load(image, [32]byte{id})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func release(t testing.TB, modules ...*Module) {
	t.Helper()
	for _, m := range modules {
		if err := m.Release(); err != nil {
			t.Error(err)
		}
	}
}

// ptx is code with one function, for devices since sm_50.
func ptx(function string) []byte {
	return []byte(".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry " + function + "()\n{\n\tret;\n}\n\x00")
}

// wantError checks for the error of a driver call.
func wantError(t testing.TB, err error, call string, code int) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Call != call || e.Code != code {
		t.Errorf("%v, want %s to fail with %d", err, call, code)
	}
}

func TestArchIsThatOfTheCurrentDevice(t *testing.T) {
	t.Setenv("FAKECUDA_DEVICES", "3")
	t.Setenv("FAKECUDA_CC", "80,90,120")
	d, h := open(t, fake)
	d.archs = map[ordinal]string{}
	want := func(want string) {
		t.Helper()
		if arch, err := d.Arch(); err != nil || arch != want {
			t.Errorf("%s, %v, want %s", arch, err, want)
		}
	}
	want("sm_80") // of the first device, because no context is current
	a := h.Create(1)
	want("sm_90")
	b := h.Create(2)
	want("sm_120")
	h.Destroy(b)
	want("sm_90")
	count := host.Calls(t, "FAKECUDA_LOG")
	want("sm_90")
	if n := count("cuDeviceGetAttribute"); n != 0 || count("cuCtxGetDevice") != 1 {
		t.Errorf("a known device was asked %d times", n)
	}
	h.Destroy(a)
	want("sm_80")
}

func TestNoDriverSaysWhereItWasSought(t *testing.T) {
	_, err := Open(dl.Locations{Explicit: filepath.Join(folder, "gone.so")})
	var none *NoDriver
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "gone.so") {
		t.Errorf("%v", err)
	}
	// A file that is not a driver.
	nvrtc := filepath.Join(folder, "libnvrtc.so.13")
	if err := host.Build(nvrtc); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dl.Locations{Explicit: nvrtc})
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "has no cuInit, ") || strings.Contains(err.Error(), "cuCtxGetId") {
		t.Errorf("%v", err)
	}
}

func TestFailedStartIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := host.Build(path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKECUDA_FAIL", "cuInit=100")
	_, err := Open(dl.Locations{Explicit: path})
	wantError(t, err, "cuInit", 100)
	if err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected") {
		t.Errorf("%v", err)
	}
	t.Setenv("FAKECUDA_FAIL", "")
	count := host.Calls(t, "FAKECUDA_LOG")
	for range 3 {
		if _, err := Open(dl.Locations{Explicit: path}); err != nil {
			t.Error(err)
		}
	}
	if n := count("cuInit"); n != 1 {
		t.Errorf("cuInit was called %d times", n)
	}
}

func TestEveryFailingCallIsAnError(t *testing.T) {
	d, h := open(t, fake)
	h.Create(0)
	m := load(t, d, ptx("k"), 1)
	other := h.Create(0)
	defer func() { h.SetCurrent(nil) }()
	const code = 700 // an illegal access by a kernel: every later call returns it
	for _, c := range []struct {
		call string
		do   func() error
	}{
		{"cuCtxGetDevice", func() error { _, err := d.Arch(); return err }},
		{"cuDeviceGetAttribute", func() error { d.archs = map[ordinal]string{}; _, err := d.Arch(); return err }},
		{"cuCtxGetCurrent", func() error { _, err := d.Load(ptx("k"), [32]byte{2}); return err }},
		{"cuCtxGetId", func() error { _, err := d.Load(ptx("k"), [32]byte{2}); return err }},
		{"cuModuleLoadDataEx", func() error { _, err := d.Load(ptx("k"), [32]byte{2}); return err }},
		{"cuCtxGetId", func() error { _, err := m.Function("k"); return err }},
		{"cuCtxGetCurrent", func() error { _, err := m.Function("k"); return err }},
		{"cuCtxPushCurrent_v2", func() error { _, err := m.Function("k"); return err }},
		{"cuModuleGetFunction", func() error { _, err := m.Function("k"); return err }},
		{"cuModuleUnload", func() error {
			other := load(t, d, ptx("other"), 3)
			return other.Release()
		}},
	} {
		os.Setenv("FAKECUDA_FAIL", c.call+"=700:1")
		err := c.do()
		os.Unsetenv("FAKECUDA_FAIL")
		wantError(t, err, c.call, code)
		if Refused(err) {
			t.Errorf("%v is not about the image", err)
		}
		if h.Current() != other {
			t.Errorf("%s: another context is current", c.call)
		}
	}
	if _, err := m.Function("k"); err != nil {
		t.Error(err)
	}
	release(t, m)
}

func TestErrorsAreOneLineWithTheDriversWords(t *testing.T) {
	t.Setenv("FAKECUDA_CC", "75")
	d, h := open(t, fake)
	h.Create(0)
	_, err := d.Load([]byte(".version 8.0\n.target sm_90\n"), [32]byte{9})
	want := "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed (fake driver: image of 28 bytes, device of sm_75)"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	t.Setenv("FAKECUDA_FAIL", "cuModuleLoadDataEx=12345")
	if _, err = d.Load(ptx("k"), [32]byte{9}); err == nil || err.Error() != "cuModuleLoadDataEx: error 12345: unknown to this driver" {
		t.Errorf("%v", err)
	}
}
