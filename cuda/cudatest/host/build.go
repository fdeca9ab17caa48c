// Package host acts as a program that uses CUDA, for Go tests: it builds the fakes, and
// makes contexts like such a program. Only tests import it.
package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Sources of the fakes, by the name of the library.
var sources = map[string][]string{
	"libcuda":  {"libcuda.c", "driver.c", "image.c", "knobs.c"},
	"libnvrtc": {"libnvrtc.c", "preprocess.c", "precompile.c", "image.c", "knobs.c"},
	// Only its name matters, but zig links nothing without a source.
	"libnvrtc-builtins": {"knobs.c"},
}

// Build makes a fake library at path; the file name says which one. flags are for the
// compiler, as -DSTUBNVRTC_MAJOR=12. The compiler is $CC, or cc.
func Build(path string, flags ...string) error {
	_, here, _, _ := runtime.Caller(0)
	kind, _, _ := strings.Cut(filepath.Base(path), ".so")
	command := strings.Fields(os.Getenv("CC"))
	if len(command) == 0 {
		command = []string{"cc"}
	}
	command = append(command, "-O1", "-std=gnu11", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden",
		"-Wl,--build-id=sha1", "-Wl,-soname,"+filepath.Base(path), "-o", path)
	command = append(command, flags...)
	for _, name := range sources[kind] {
		command = append(command, filepath.Join(filepath.Dir(here), "..", name))
	}
	if err := os.MkdirAll(filepath.Join(filepath.Dir(path), calls), 0o755); err != nil {
		return err
	}
	cmd := exec.Command(command[0], append(command[1:], "-ldl")...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// calls is the folder beside the fake NVRTC in which it makes a file for each call.
const calls = "calls/__pycache__"

// Compiles returns how often a function of the fake NVRTC in a folder was called.
func Compiles(folder, name string) int {
	files, _ := filepath.Glob(filepath.Join(folder, calls, "*"))
	n := 0
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if word, _, _ := strings.Cut(string(text), " "); word == name {
			n++
		}
	}
	return n
}

// Calls makes the fake driver log its calls to a file of the test, and returns a function
// that counts the calls of a name.
func Calls(t testing.TB, variable string) (count func(name string) int) {
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv(variable, path)
	return func(name string) int {
		text, _ := os.ReadFile(path)
		n := 0
		for line := range bytes.Lines(text) {
			if word, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); string(word) == name {
				n++
			}
		}
		return n
	}
}
