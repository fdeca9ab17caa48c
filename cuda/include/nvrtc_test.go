package include

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// nvrtc is an installed NVRTC with its headers.
type nvrtc struct {
	name, library string
	dirs          []string
}

// The variables name folders that have the packages of NVRTC, of the runtime's
// headers and of CCCL in nvidia/.
var installed = []struct{ variable, library, runtime, cccl string }{
	{"JITCACHE_TEST_CUDA13", "nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cu13/include", "nvidia/cu13/include/cccl"},
	{"JITCACHE_TEST_CUDA12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include"},
}

// forEach runs a test with every NVRTC that is installed.
func forEach(t *testing.T, test func(t *testing.T, v nvrtc)) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace")
	}
	ran := false
	for _, i := range installed {
		root := os.Getenv(i.variable)
		if root == "" {
			continue
		}
		ran = true
		if _, err := driver(); err != nil { // before any test leaves this folder
			t.Fatal(err)
		}
		v := nvrtc{i.variable[len("JITCACHE_TEST_"):], filepath.Join(root, i.library), []string{filepath.Join(root, i.cccl), filepath.Join(root, i.runtime)}}
		t.Run(v.name, func(t *testing.T) { test(t, v) })
	}
	if !ran {
		t.Skip("JITCACHE_TEST_CUDA13 and JITCACHE_TEST_CUDA12 are not set")
	}
}

// driver builds the program that calls NVRTC.
var driver = sync.OnceValues(func() (string, error) {
	program := driverPath()
	out, err := exec.Command("cc", "-O1", "-o", program, "testdata/nvrtc.c", "-ldl").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("cc: %w: %s", err, out)
	}
	return program, err
})

func driverPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("jitcache-nvrtc-%d", os.Getpid()))
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.Remove(driverPath())
	os.Exit(status)
}

// compiled is what one compile did.
type compiled struct {
	opened, missed []string // absolute, in order
	ok             bool
	log            string
	cubin          []byte
}

var call = regexp.MustCompile(`^\d+ +openat\(AT_FDCWD, "((?:[^"\\]|\\.)*)", [^)]*\) += (-?\d+)`)

// compile compiles a request with the real library, in the working directory.
func (v nvrtc) compile(t *testing.T, req *Request, more ...string) compiled {
	t.Helper()
	program, err := driver()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jitcache-nvrtc")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	source, out, trace := filepath.Join(dir, "source"), filepath.Join(dir, "out"), filepath.Join(dir, "trace")
	write(t, source, req.Source)
	args := []string{"-f", "-s", "4096", "-e", "trace=file", "-o", trace, program, v.library, source, req.Name, out}
	for i, h := range req.Headers {
		write(t, filepath.Join(dir, fmt.Sprint(i)), h.Text)
		args = append(args, "-H", h.Name, filepath.Join(dir, fmt.Sprint(i)))
	}
	args = append(args, "--", "-arch=sm_80", "--no-cache")
	args = append(append(args, more...), options(req)...)
	cmd := exec.Command("strace", args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	timer := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	err = cmd.Run()
	timer.Stop()
	c := compiled{ok: err == nil, log: log.String()}
	c.cubin, _ = os.ReadFile(out)
	c.read(t, trace)
	return c
}

func options(req *Request) (all []string) {
	for _, dir := range req.Dirs {
		all = append(all, "-I"+dir)
	}
	for _, pre := range req.PreIncludes {
		all = append(all, "--pre-include="+pre)
	}
	for _, m := range req.Macros {
		all = append(all, "-D"+m)
	}
	if req.Standard != "" {
		all = append(all, "--std="+req.Standard)
	}
	if req.NoSourceInclude {
		all = append(all, "--no-source-include")
	}
	return all
}

// read reads the calls between the driver's marks.
func (c *compiled) read(t *testing.T, trace string) {
	t.Helper()
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.Contains(line, `"/nvrtc-begins"`):
			inside = true
		case strings.Contains(line, `"/nvrtc-ends"`):
			return
		case inside:
			m := call.FindStringSubmatch(line)
			if m == nil || strings.Contains(m[1], ".so") || strings.HasPrefix(m[1], "/etc/") {
				continue
			}
			path := normal(strings.ReplaceAll(m[1], `\\`, `\`))
			if info, err := os.Stat(path); m[2][0] == '-' || err == nil && info.IsDir() {
				c.missed = append(c.missed, path)
			} else {
				c.opened = append(c.opened, path)
			}
		}
	}
	t.Fatalf("no marks in the trace: %s", c.log)
}

// normal makes a path absolute and takes out double slashes and dots, which
// NVRTC 13 does and 12 does not. It leaves "..", which may go through links.
func normal(path string) string {
	if !filepath.IsAbs(path) {
		dir, _ := os.Getwd()
		path = dir + "/" + path
	}
	var parts []string
	for _, part := range strings.Split(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return "/" + strings.Join(parts, "/")
}

// holds fails the test unless the closure has every file that NVRTC opened and
// every name that it looked for in vain.
func holds(t *testing.T, c *Closure, truth compiled) {
	t.Helper()
	var files, absent []string
	for _, f := range c.List.Files {
		files = append(files, normal(f.Path))
	}
	for _, path := range c.List.Absent {
		absent = append(absent, normal(path))
	}
	for _, path := range truth.opened {
		if !slices.Contains(files, path) && !slices.ContainsFunc(files, func(f string) bool { return sameFile(f, path) }) {
			t.Errorf("NVRTC opened %s, which is not in the closure", path)
		}
	}
	for _, path := range truth.missed {
		if !slices.Contains(absent, path) && !slices.ContainsFunc(absent, func(a string) bool { return sameAbsent(a, path) }) {
			t.Errorf("NVRTC looked for %s, which is not among the absent", path)
		}
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// sameAbsent reports whether two names are one in one folder.
func sameAbsent(a, b string) bool {
	return filepath.Base(a) == filepath.Base(b) && sameFile(filepath.Dir(a), filepath.Dir(b))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// find finds a closure, or fails.
func find(t *testing.T, req *Request) *Closure {
	t.Helper()
	c, err := Find(req)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The headers that programs include, against the truth.
func TestClosureOfCCCLHasAllThatNVRTCOpens(t *testing.T) {
	forEach(t, func(t *testing.T, v nvrtc) {
		for _, header := range []string{"cub/block/block_reduce.cuh", "cuda/std/array", "thrust/sort.h"} {
			t.Run(header, func(t *testing.T) {
				t.Chdir(t.TempDir())
				req := &Request{Source: "#include <" + header + ">\n__global__ void k() {}\n", Name: "k.cu", Dirs: v.dirs}
				c := find(t, req)
				if len(c.List.Folders) > 0 {
					t.Errorf("%d folders: a computed include was not resolved", len(c.List.Folders))
				}
				truth := v.compile(t, req)
				if len(truth.opened) < 100 {
					t.Fatalf("NVRTC opened %d files: %.300s", len(truth.opened), truth.log)
				}
				holds(t, c, truth)
				slices.Sort(truth.opened)
				t.Logf("closure %d files, %d absent; NVRTC opened %d", len(c.List.Files), len(c.List.Absent), len(slices.Compact(truth.opened)))
			})
		}
	})
}
