// Package observetest builds the tracer for tests of packages that run commands.
package observetest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jitcache/observe"
)

// Main is a TestMain: it builds the tracer, with warnings as errors, and runs the
// tests with it. Other programs that stand beside it are named by the folders of
// their sources, relative to that of package observe.
func Main(m *testing.M, beside map[string]string) int {
	dir, err := os.MkdirTemp("", "observe-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	observe.Tracer = filepath.Join(dir, "jitcache-observe")
	programs := map[string]string{"jitcache-observe": "tracer"}
	maps.Copy(programs, beside)
	for name, folder := range programs {
		if out, err := build(filepath.Join(dir, name), folder); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", name, err, out)
			return 1
		}
	}
	return m.Run()
}

func build(path, folder string) ([]byte, error) {
	_, here, _, _ := runtime.Caller(0)
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", folder, "*.c"))
	if err != nil {
		return nil, err
	}
	cc := strings.Fields(os.Getenv("CC"))
	if len(cc) == 0 {
		cc = []string{"cc"}
	}
	args := append(cc[1:], "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path)
	return exec.Command(cc[0], append(append(args, sources...), "-lpthread", "-ldl")...).CombinedOutput()
}
