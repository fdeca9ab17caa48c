// What it costs to find a library.

package dl

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// toolkit returns the folder of real wheels that a variable names, or skips.
func toolkit(t testing.TB, variable string) string {
	t.Helper()
	site := os.Getenv(variable)
	if site == "" {
		t.Skip(variable + " names no folder with NVRTC in it")
	}
	return site
}

// inChild runs a test in a process of its own, because libraries stay loaded. It returns
// true in that process.
func inChild(t *testing.T, env ...string) bool {
	t.Helper()
	if os.Getenv("JITCACHE_TEST_CHILD") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), "JITCACHE_TEST_CHILD="+t.Name()), env...)
	out, err := cmd.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("%s", out)
	case err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())):
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

func compiler() []string {
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 {
		return cc
	}
	return []string{"cc"}
}

// build makes a library at path with a function version() that returns version. Its build
// id comes from its content, unless flags ask for none.
func build(t testing.TB, path string, version string, flags ...string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	cc := compiler()
	// It is renamed into place, because a loaded library must not change.
	part := path + ".part"
	args := append(cc[1:], "-O1", "-shared", "-fPIC", "-o", part, "-x", "c", "-", "-Wl,--build-id=sha1")
	cmd := exec.Command(cc[0], append(args, flags...)...)
	cmd.Stdin = strings.NewReader("const char *version(void) { return \"" + version + "\"; }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(part, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func find(t testing.TB, w Wanted, p Locations) File {
	t.Helper()
	f, err := Find(w, p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t testing.TB, f File) *Library {
	t.Helper()
	l, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func BenchmarkFind(b *testing.B) {
	p := Locations{Wheels: []string{toolkit(b, "JITCACHE_TEST_CUDA13")}}
	for b.Loop() {
		find(b, NVRTC, p)
	}
}

func BenchmarkGeneration(b *testing.B) {
	for b.Loop() {
		generation()
	}
}
