// A compile with the fake NVRTC, and the next one.

package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jitcache/command"
	"jitcache/core"
	"jitcache/core/key"
	"jitcache/cuda/cudatest/host"
	"jitcache/observe/observetest"
)

func TestMain(m *testing.M) {
	os.Exit(observetest.Main(m, map[string]string{"jitcache-nvrtc": "../cuda/worker/program"}))
}

// project is a folder of sources, with a cache, and with an NVRTC of its own whose calls are counted.
type project struct {
	*testing.T
	folder, nvrtc string
	cache         *core.Cache
	env           []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{T: t, folder: t.TempDir(), env: []string{"PATH=/usr/bin"}}
	p.nvrtc = filepath.Join(t.TempDir(), "libnvrtc.so.13")
	if err := host.Build(p.nvrtc); err != nil {
		t.Fatal(err)
	}
	p.cache = p.open()
	t.Chdir(p.folder)
	return p
}

func (p *project) open() *core.Cache {
	p.Helper()
	c, err := core.Open(core.Options{Values: map[string]string{"directory": filepath.Join(filepath.Dir(p.nvrtc), "cache"), "memory_size": "0", "lock_dir": filepath.Join(filepath.Dir(p.nvrtc), "locks")}})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(c.Close)
	return c
}

func (p *project) compiles() int { return host.Compiles(filepath.Dir(p.nvrtc), "nvrtcCompileProgram") }

func (p *project) write(name, text string) string {
	p.Helper()
	path := filepath.Join(p.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *project) packed() []byte { return []byte(strings.Join(p.env, "\x00") + "\x00") }

func (p *project) request(source string, parts ...string) *Request {
	all := part('n', p.nvrtc) + part('o', "-arch=sm_80") + strings.Join(parts, "")
	return &Request{
		Source: []byte(source), SourceDigest: key.Sum([]byte(source)),
		Parts: []byte(all), PartsDigest: key.Sum([]byte(all)),
	}
}

// do runs a job to its end.
func do(t *testing.T, j *command.Job) (*command.Result, error) {
	t.Helper()
	defer j.Close()
	for start := time.Now(); time.Since(start) < time.Minute; {
		r, done, err := j.Step()
		if err != nil || done {
			return r, err
		}
	}
	t.Fatal("not done after a minute")
	return nil, nil
}

func (p *project) try(source string, parts ...string) (*command.Result, error) {
	p.Helper()
	j, err := p.request(source, parts...).Job(p.cache, p.packed(), command.Want{Timeout: -1})
	if err != nil {
		p.Fatal(err)
	}
	return do(p.T, j)
}

// compile returns the code, and whether it was a hit.
func (p *project) compile(source string, parts ...string) (string, bool) {
	p.Helper()
	r, err := p.try(source, parts...)
	if err != nil {
		p.Fatalf("%v\n%s", err, LogOf(err))
	}
	if !r.Hit && !r.Kept {
		p.Errorf("not kept: %s", r.Why)
	}
	defer r.Blob.Release()
	return string(r.Blob.Data()), r.Hit
}

const simple = "extern \"C\" __global__ void k() {}\n"

func TestSecondCompileFindsTheFirst(t *testing.T) {
	p := newProject(t)
	first, hit := p.compile(simple)
	if hit || !strings.HasPrefix(first, "\x7fELF") {
		t.Fatalf("%v, %.10q", hit, first)
	}
	for range 3 {
		if again, hit := p.compile(simple); !hit || again != first {
			t.Errorf("hit %v", hit)
		}
	}
	if n := p.compiles(); n != 1 {
		t.Errorf("%d compiles", n)
	}
	b, _, err := p.request(simple).Lookup(p.cache, p.packed())
	if err != nil || b == nil || string(b.Data()) != first {
		t.Fatalf("%v, %v", b, err)
	}
	b.Release()
}

func TestEditedHeaderIsNoticedAndBack(t *testing.T) {
	p := newProject(t)
	const source = "#include \"a.h\"\n" + simple
	p.write("a.h", "#define A 1\n")
	one, _ := p.compile(source)
	p.write("a.h", "#define A 2\n")
	two, hit := p.compile(source)
	if hit || two == one {
		t.Error("the edit was not noticed")
	}
	p.write("a.h", "#define A 1\n")
	if back, hit := p.compile(source); back != one || !hit {
		t.Errorf("back: hit %v, the same %v", hit, back == one)
	}
}
