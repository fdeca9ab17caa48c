// The NVRTCs that this process has loaded.

package cuda

import (
	"sync"

	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
)

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
