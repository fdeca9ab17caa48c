package cuda

import (
	"fmt"
	"sync"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
)

// Compile runs NVRTC, on the calling thread. The blob has attributes, and a
// reference for the caller.
//
// id is the key that the result is to be stored under, nil if it is not to be
// stored. moved says that the request has another key by now: a header or the
// device was changed since.
func (r *Request) Compile(id *key.ID) (b *blob.Blob, moved bool, err error) {
	rec, err := r.record()
	if err != nil {
		return nil, false, err
	}
	arch, err := rec.arch()
	if err != nil {
		return nil, false, err
	}
	compiler, err := compilerOf(rec.compiler)
	if err != nil {
		return nil, false, err
	}
	// Only now: the compiler was not loaded when the request was looked up, and may
	// have been replaced before it was.
	if id != nil {
		k, err := r.Key(nil)
		if err != nil {
			return nil, false, err
		}
		moved = k.ID != *id
	}
	p, err := parse(r.Parts)
	if err != nil {
		return nil, false, err
	}
	result, err := compiler.Compile(&nvrtc.Program{
		Source:      string(r.Source),
		Name:        p.name,
		Options:     rec.arguments(arch),
		Headers:     p.headers,
		Expressions: rec.expressions,
		Target:      p.target,
	})
	if err != nil {
		return nil, false, err
	}
	defer result.Code.Release()
	major, minor := compiler.Version()
	b, err = withAttributes(result.Code, Attributes{
		Target: p.target.String(), Arch: arch, NVRTC: fmt.Sprintf("%d.%d", major, minor),
		Log: result.Log, Lowered: result.Lowered,
	})
	return b, moved, err
}

// arguments are the options for NVRTC.
func (rec *record) arguments(arch string) []string {
	raw := append([]string(nil), rec.opts.Raw...)
	if rec.opts.Arch == "" {
		raw = append(raw, "--gpu-architecture="+arch)
	}
	if rec.target == nvrtc.LTOIR && !rec.opts.Link {
		raw = append(raw, "--dlink-time-opt")
	}
	return raw
}

// compilers are those that the process has loaded, by path.
var compilers struct {
	sync.Mutex
	loaded map[string]*nvrtc.Compiler
}

func compilerOf(locations dl.Locations) (*nvrtc.Compiler, error) {
	file, err := dl.Find(dl.NVRTC, locations)
	if err != nil {
		return nil, libraryError{err}
	}
	compilers.Lock()
	defer compilers.Unlock()
	if c := compilers.loaded[file.Path]; c != nil && file.Loaded() {
		return c, nil
	}
	library, err := file.Open()
	if err != nil {
		return nil, libraryError{err}
	}
	c, err := nvrtc.New(library.Symbol)
	if err != nil {
		return nil, libraryError{err}
	}
	if compilers.loaded == nil {
		compilers.loaded = map[string]*nvrtc.Compiler{}
	}
	compilers.loaded[file.Path] = c
	return c, nil
}

// withAttributes returns a blob of code that is in no cache, with its
// attributes.
func withAttributes(code *blob.Blob, a Attributes) (*blob.Blob, error) {
	text := a.text()
	n := len(code.Data())
	// A NUL behind the code, which may be text, and one behind the attributes.
	b, err := blob.New(n + 1 + len(text) + 1)
	if err != nil {
		return nil, err
	}
	buf := b.Buffer()
	copy(buf, code.Data())
	buf[n] = 0
	copy(buf[n+1:], text)
	buf[n+1+len(text)] = 0
	b.SetSize(n)
	b.SetTexts(n+1, -1)
	return b, nil
}
