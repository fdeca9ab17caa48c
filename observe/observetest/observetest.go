// Package observetest builds the tracer for tests of packages that run commands.
package observetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jitcache/observe"
)

// Main is a TestMain: it builds the tracer, with warnings as errors, and runs the
// tests with it.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "observe-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	observe.Tracer = filepath.Join(dir, "jitcache-observe")
	if out, err := build(observe.Tracer); err != nil {
		fmt.Fprintf(os.Stderr, "tracer: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func build(path string) ([]byte, error) {
	_, here, _, _ := runtime.Caller(0)
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", "tracer", "*.c"))
	if err != nil {
		return nil, err
	}
	cc := strings.Fields(os.Getenv("CC"))
	if len(cc) == 0 {
		cc = []string{"cc"}
	}
	args := append(cc[1:], "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path)
	return exec.Command(cc[0], append(append(args, sources...), "-lpthread")...).CombinedOutput()
}
