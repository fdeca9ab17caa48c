// Compiles with NVRTC in this process, whose results are not kept.

package cuda

import (
	"fmt"
	"sync"

	"jitcache/core/request"
	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
)

// inHost compiles with NVRTC in the host, on the calling thread. Nobody observes what it
// looks at, so the result is not kept.
func (r *running) inHost() {
	compiler, err := compilerOf(r.parts.compiler)
	if err != nil {
		r.err = err
		return
	}
	major, minor := compiler.Version()
	result, err := compiler.Compile(&nvrtc.Program{
		Source: r.source, Name: r.name, Options: append(r.more(major, minor, false), r.options...), Headers: r.headers,
		Expressions: r.expressions, Target: r.target,
	})
	if err != nil {
		r.err = err
		return
	}
	defer result.Code.Release()
	r.made = r.result(result.Code.Data(), result.Log, result.Lowered, major, minor)
	r.made.Why = request.Refuse("nvrtc", "is not observed: "+r.unseen)
	if r.world.Kept {
		r.world.Warn("nvrtc "+r.unseen, fmt.Sprintf("what NVRTC compiles is not kept: %s", r.unseen))
	}
}

// compilers are the NVRTCs that the process has loaded, by path.
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
	c, err := nvrtc.New(library.Path, library.Symbol)
	if err != nil {
		return nil, libraryError{err}
	}
	if compilers.loaded == nil {
		compilers.loaded = map[string]*nvrtc.Compiler{}
	}
	compilers.loaded[file.Path] = c
	return c, nil
}
