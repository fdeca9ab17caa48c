// When a worker is used again, and when a result is kept.

package cuda

import (
	format "debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/cuda/cudatest/host"
	"jitcache/cuda/nvrtc"
	"jitcache/observe"
)

// workers returns the processes that have loaded this project's NVRTC.
func (p *project) workers() (ids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		words := strings.Split(string(text), "\x00")
		if len(words) > 2 && filepath.Base(words[0]) == "jitcache-nvrtc" && words[2] == p.nvrtc {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			ids = append(ids, id)
		}
	}
	return ids
}

// waiting returns the processes of this project that wait at a gate.
func (p *project) waiting(gate string) (ids []int) {
	for _, id := range p.workers() {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", id))
		for _, name := range names {
			if text, _ := os.ReadFile(name); string(text) == gate+"\n" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// until waits until something holds.
func (p *project) until(holds func() bool) {
	p.Helper()
	for start := time.Now(); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			p.Fatal("it does not come to that")
		}
	}
}

// begin compiles sources at the same time. The function that it returns waits for them.
func (p *project) begin(n int) (wait func()) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			r, err := p.try(fmt.Sprintf("#define N %d\n%s", i, simple))
			if err != nil || r.Blob == nil {
				p.Errorf("%d: %v", i, err)
			}
		})
	}
	return group.Wait
}

//jitcache:control notime
func TestTextThatShowsTheTimeIsNotKept(t *testing.T) {
	p := newProject(t)
	p.write("a.h", "#define WHEN __DATE__\n")
	for _, source := range []string{"const char *when = __TIME__;\n" + simple, "#include \"a.h\"\n" + simple} {
		for range 2 {
			if r, err := p.try(source); err != nil || r.Hit || r.Kept || r.Blob == nil || !strings.Contains(r.Why, "time") {
				t.Errorf("%q: %+v, %v", source, r, err)
			}
		}
	}
}

func TestWorkerIsUsedAgainWhereItWouldLookAtTheSame(t *testing.T) {
	p := newProject(t)
	for i := range 5 {
		p.compile(fmt.Sprintf("#define N %d\n%s", i, simple))
	}
	if n := len(p.workers()); n != 1 {
		t.Errorf("%d workers", n)
	}
	first := p.workers()
	p.compile("#include <stdint.h>\n"+simple, part('h', "stdint.h")+part('t', ""))
	if again := p.workers(); len(again) != 2 || again[0] != first[0] && again[1] != first[0] {
		t.Errorf("workers %v, then %v", first, again)
	}
}

//jitcache:control noworkercheck
func TestWorkerWhoseFilesHaveChangedIsNotUsedAgain(t *testing.T) {
	p := newProject(t)
	p.compile(simple)
	time.Sleep(100 * time.Millisecond)
	other := p.nvrtc + ".new"
	build := filepath.Join(t.TempDir(), "libnvrtc.so.13")
	if err := errors.Join(host.Build(build, "-DSTUBNVRTC_MAJOR=12", "-DSTUBNVRTC_MINOR=9"), os.Rename(build, other), os.Rename(other, p.nvrtc)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // files that a compiler reads at its start are compared once a second
	r, err := p.try("#define N 1\n" + simple)
	if err != nil {
		t.Fatal(err)
	}
	if v := ParseAttributes(r.Blob.Attributes()).NVRTC; v != "12.9" {
		t.Errorf("compiled by NVRTC %s, which is no longer there", v)
	}
}

//jitcache:control nobound
func TestThreadsCompileSideBySideAndNoMoreThanTheBound(t *testing.T) {
	p := newProject(t)
	p.env = append(p.env, "STUBNVRTC_GATE=side-by-side")
	most := min(max(runtime.NumCPU(), 8), 64)
	wait := p.begin(most + 3)
	p.until(func() bool { return len(p.waiting("side-by-side")) >= most })
	time.Sleep(300 * time.Millisecond)
	if n := len(p.workers()); n != most {
		t.Errorf("%d workers, want %d", n, most)
	}
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	p.until(func() bool {
		for _, id := range p.waiting("side-by-side") {
			syscall.Kill(id, syscall.SIGUSR2)
		}
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

func TestWorkerHasNothingOfItsHost(t *testing.T) {
	p := newProject(t)
	file, err := os.Create(filepath.Join(p.folder, "open"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), syscall.F_SETFD, 0)
	p.compile(simple)
	for _, id := range p.workers() {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", id))
		for _, fd := range fds {
			to, _ := os.Readlink(fd)
			if to != "/dev/null" && !strings.HasPrefix(to, "/memfd:jitcache") && !strings.HasPrefix(to, "socket:") {
				t.Errorf("descriptor %s is %s", filepath.Base(fd), to)
			}
		}
		parent, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if words := strings.Fields(string(parent)); len(words) > 3 && words[3] == strconv.Itoa(os.Getpid()) {
			t.Error("it is a child of the host")
		}
	}
}

func TestCrashIsAnErrorOfOneRequest(t *testing.T) {
	p := newProject(t)
	p.env = append(p.env, "STUBNVRTC_CRASH=1")
	_, err := p.try(simple)
	var failed *nvrtc.Error
	if !errors.As(err, &failed) || FaultOf(err) != DoesNotCompile || !strings.Contains(err.Error(), "signal 11") {
		t.Errorf("%v", err)
	}
	p.env = p.env[:len(p.env)-1]
	if _, hit := p.compile(simple); hit {
		t.Error("found what crashed")
	}
}

func TestKilledWorkerIsReplaced(t *testing.T) {
	p := newProject(t)
	p.env = append(p.env, "STUBNVRTC_GATE=killed")
	wait := p.begin(1)
	p.until(func() bool { return len(p.waiting("killed")) == 1 })
	first := p.waiting("killed")[0]
	syscall.Kill(first, syscall.SIGKILL)
	p.until(func() bool { w := p.waiting("killed"); return len(w) == 1 && w[0] != first })
	syscall.Kill(p.waiting("killed")[0], syscall.SIGUSR2)
	wait()
}

// loaded returns how many bytes of a library the loader maps.
func loaded(t *testing.T, path string) (end int) {
	t.Helper()
	f, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == format.PT_LOAD {
			end = max(end, int(p.Off+p.Filesz))
		}
	}
	return end
}

func TestTruncatedLibraryIsAnErrorOfOneRequest(t *testing.T) {
	p := newProject(t)
	whole, err := os.ReadFile(p.nvrtc)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 64, 4096, loaded(t, p.nvrtc) / 2} {
		if err := os.WriteFile(p.nvrtc, whole[:size], 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := p.try(simple); err == nil || FaultOf(err) != NoLibrary {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if err := os.WriteFile(p.nvrtc, whole, 0o755); err != nil {
		t.Fatal(err)
	}
	p.compile(simple)
}

func TestWithoutAnObserverTheHostCompilesAndSaysSoOnce(t *testing.T) {
	p := newProject(t)
	before := observe.Tracer
	observe.Tracer = ""
	defer func() { observe.Tracer = before }()
	c, said := warnings(t)
	for i := range 3 {
		r, err := p.in(c, fmt.Sprintf("#define N %d\n%s", i, simple))
		if err != nil || r.Kept || r.Blob == nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if all := said(); len(all) != 1 || !strings.Contains(all[0], "NVRTC") {
		t.Errorf("%q", all)
	}
}

func TestFolderAndVariablesAreThoseOfTheRequest(t *testing.T) {
	p := newProject(t)
	p.write("one/a.h", "#define A 1\n")
	p.write("two/a.h", "#define A 2\n")
	const source = "#include \"a.h\"\n" + simple
	var codes []string
	for _, folder := range []string{"one", "two", "one"} {
		t.Chdir(filepath.Join(p.folder, folder))
		code, hit := p.compile(source)
		if hit != (len(codes) == 2) {
			t.Errorf("%s: hit %v", folder, hit)
		}
		codes = append(codes, code)
	}
	if codes[0] != codes[2] || codes[0] == codes[1] {
		t.Error("a worker has worked in another's folder")
	}
	p.env = append(p.env, "STUBNVRTC_SLEEP_MS=1") // the fake asks for this variable
	if _, hit := p.compile(source); hit {
		t.Error("a variable that NVRTC asks for has changed")
	}
	p.env = append(p.env, "OTHER=1")
	if _, hit := p.compile(source); !hit {
		t.Error("a variable that NVRTC does not ask for has changed")
	}
}

// driver puts a fake driver into the folder where workers look first, in place of any
// other.
func (p *project) driver(folder string, flags ...string) {
	p.Helper()
	made := filepath.Join(p.TempDir(), "libcuda.so.1")
	if err := errors.Join(host.Build(made, flags...), os.Rename(made, filepath.Join(folder, "libcuda.so.1"))); err != nil {
		p.Fatal(err)
	}
}

//jitcache:control noabsent
func TestDriverThatNVRTCOpensCounts(t *testing.T) {
	p := newProject(t)
	if err := host.Build(p.nvrtc, "-DSTUBNVRTC_MAJOR=12", "-DSTUBNVRTC_MINOR=8", "-DSTUBNVRTC_DRIVER"); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	p.env = append(p.env, "LD_LIBRARY_PATH="+folder)
	codes := map[string]bool{}
	differs := func(what string) {
		t.Helper()
		code, hit := p.compile(simple)
		if hit || codes[code] {
			t.Errorf("%s: found what was made without", what)
		}
		codes[code] = true
		if again, hit := p.compile(simple); !hit || again != code {
			t.Errorf("%s: not found again", what)
		}
	}
	differs("no driver")
	p.driver(folder)
	differs("a driver that appears")
	p.driver(folder, "-DFAKECUDA_OLD")
	time.Sleep(1100 * time.Millisecond) // files that NVRTC has loaded are compared once a second
	differs("another driver")
}

// Before 12.9 NVRTC has no cache of its own, and does not know the option that turns it
// off.
func TestOlderNVRTCDoesNotLookForTheDriver(t *testing.T) {
	wheels := os.Getenv("JITCACHE_TEST_CUDA11")
	if wheels == "" {
		t.Skip("JITCACHE_TEST_CUDA11 names no folder with NVIDIA's wheels")
	}
	p := newProject(t)
	p.nvrtc = filepath.Join(wheels, "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2")
	folder := t.TempDir()
	p.env = append(p.env, "LD_LIBRARY_PATH="+folder)
	first, _ := p.compile(simple)
	p.driver(folder)
	if again, hit := p.compile(simple); !hit || again != first {
		t.Error("a driver made it another result")
	}
}
