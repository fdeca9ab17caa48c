// What a worker cannot do, the host does.

package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/command"
	"jitcache/core"
	"jitcache/cuda/cudatest/host"
	"jitcache/cuda/dl"
	"jitcache/observe"
)

// What a worker and the host find and can do, where that is not the same.

// withBuiltins makes the project's NVRTC a version that opens its builtins by their name, and
// puts them into a folder. A process that has loaded them once has them for good.
func (p *project) withBuiltins(minor int, folder string) string {
	p.Helper()
	name := fmt.Sprintf("libnvrtc-builtins.so.13.%d", minor)
	made, path := filepath.Join(p.TempDir(), name), filepath.Join(folder, name)
	flags := []string{"-DSTUBNVRTC_BUILTINS", "-DSTUBNVRTC_MAJOR=13", fmt.Sprintf("-DSTUBNVRTC_MINOR=%d", minor)}
	if err := errors.Join(host.Build(p.nvrtc, flags...), host.Build(made), os.Rename(made, path)); err != nil {
		p.Fatal(err)
	}
	return path
}

// warnings opens a cache, and returns it with a function that returns its warnings.
func warnings(t *testing.T) (*core.Cache, func() []string) {
	t.Helper()
	var said []string
	var mu sync.Mutex
	c, err := core.Open(core.Options{
		Values: map[string]string{"directory": filepath.Join(t.TempDir(), "cache")},
		Sink: func(level core.Level, line string) {
			mu.Lock()
			defer mu.Unlock()
			if level == core.Warning {
				said = append(said, line)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// in compiles with a cache; nil: without one.
func (p *project) in(c *core.Cache, source string) (*command.Result, error) {
	p.Helper()
	j, err := p.request(source).Job(c, p.packed(), command.Want{Timeout: -1})
	if err != nil {
		p.Fatal(err)
	}
	return do(p.T, j)
}

//jitcache:control nobuiltins
func TestBuiltinsBesideNVRTCAreLoadedInWorkerAndHost(t *testing.T) {
	p := newProject(t)
	path := p.withBuiltins(91, filepath.Dir(p.nvrtc))
	p.compile(simple)
	if r, err := p.in(nil, simple); err != nil || r.Blob == nil {
		t.Errorf("in the host: %+v, %v", r, err)
	}
	made := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := errors.Join(host.Build(made, "-Wl,-rpath,/elsewhere"), os.Rename(made, path)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // files that a compiler reads at its start are compared once a second
	if _, hit := p.compile(simple); hit {
		t.Error("builtins are no input")
	}
}

// The host has builtins loaded that a worker does not find.
//
//jitcache:control nofallback
func TestWhatAWorkerCannotDoTheHostDoesAndSaysSoOnce(t *testing.T) {
	p := newProject(t)
	path := p.withBuiltins(92, t.TempDir())
	c, said := warnings(t)
	if _, err := p.in(c, simple); err == nil || !strings.Contains(err.Error(), "BUILTIN_OPERATION_FAILURE") {
		t.Fatalf("where nobody finds builtins: %v", err)
	}
	if len(said()) != 0 {
		t.Errorf("%q, of a compile that fails anyway", said())
	}
	file, err := dl.Find(dl.NVRTC, dl.Locations{Explicit: path}) // any library, to open it
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.Open(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		r, err := p.in(c, fmt.Sprintf("#define N %d\n%s", i, simple))
		if err != nil || r.Kept || r.Blob == nil || !strings.Contains(r.Why, "BUILTIN_OPERATION_FAILURE") {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if all := said(); len(all) != 1 || !strings.Contains(all[0], "is not kept") {
		t.Errorf("%q", all)
	}
}

//jitcache:control nofallback
func TestOnlyWhatIsOfTheProcessIsCompiledAgainInTheHost(t *testing.T) {
	p := newProject(t)
	for status, compiles := range map[int]int{1: 2, 2: 2, 3: 1, 5: 1, 6: 1, 7: 2, 10: 1, 11: 2} {
		p.env = []string{"PATH=/usr/bin", fmt.Sprintf("STUBNVRTC_FAIL=nvrtcCompileProgram=%d", status)}
		t.Setenv("STUBNVRTC_FAIL", fmt.Sprintf("nvrtcCompileProgram=%d", status))
		before := host.Compiles(filepath.Dir(p.nvrtc), "nvrtcCreateProgram")
		if _, err := p.try(simple); err == nil || FaultOf(err) != DoesNotCompile {
			t.Errorf("%d: %v", status, err)
		}
		if n := host.Compiles(filepath.Dir(p.nvrtc), "nvrtcCreateProgram") - before; n != compiles {
			t.Errorf("status %d: compiled %d times, want %d", status, n, compiles)
		}
	}
}

//jitcache:control nofallback
func TestLibraryThatOnlyTheHostHasLoadedIsUsedThere(t *testing.T) {
	p := newProject(t)
	c, said := warnings(t)
	if r, err := p.in(nil, simple); err != nil || r.Blob == nil { // now the host has it
		t.Fatalf("%+v, %v", r, err)
	}
	if err := errors.Join(os.WriteFile(p.nvrtc+".new", make([]byte, 64), 0o755), os.Rename(p.nvrtc+".new", p.nvrtc)); err != nil {
		t.Fatal(err)
	}
	r, err := p.in(c, simple)
	if err != nil || r.Kept || r.Blob == nil || len(said()) != 1 {
		t.Errorf("%+v, %v, %q", r, err, said())
	}
}

//jitcache:control nofallback
func TestWorkerThatCannotBeStartedIsNoErrorOfTheRequest(t *testing.T) {
	p := newProject(t)
	c, said := warnings(t)
	before, folder := observe.Tracer, t.TempDir()
	defer func() { observe.Tracer = before }()
	observe.Tracer = filepath.Join(folder, observe.TracerName)
	if err := errors.Join(os.Symlink(before, observe.Tracer), os.WriteFile(filepath.Join(folder, "jitcache-nvrtc"), []byte("#!/bin/sh\nexit 3\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	r, err := p.in(c, simple)
	if err != nil || r.Kept || r.Blob == nil || !strings.Contains(r.Why, "status 3") || len(said()) != 1 {
		t.Errorf("%+v, %v, %q", r, err, said())
	}
}

//jitcache:control nofallback
func TestWorkerThatIsKilledAgainIsNoErrorOfTheRequest(t *testing.T) {
	p := newProject(t)
	c, said := warnings(t)
	p.env = append(p.env, "STUBNVRTC_GATE=again") // the host has no such variable
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := p.in(c, simple)
		if err != nil || r.Kept || r.Blob == nil || len(said()) != 1 {
			t.Errorf("%+v, %v, %q", r, err, said())
		}
	}()
	p.until(func() bool {
		for _, id := range p.waiting("again") {
			syscall.Kill(id, syscall.SIGKILL)
		}
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}
