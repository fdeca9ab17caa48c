// Compiles with the real NVRTC or the fake.

package nvrtc

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"jitcache/cuda/dl"
)

// compilers returns the real NVRTCs, by the variable that names the folder of NVIDIA's
// wheels.
func compilers(t *testing.T) map[string]*Compiler {
	t.Helper()
	found := map[string]*Compiler{}
	for _, variable := range []string{"JITCACHE_TEST_CUDA12", "JITCACHE_TEST_CUDA13"} {
		folder := os.Getenv(variable)
		if folder == "" {
			continue
		}
		name := folder + "/nvidia/cu13/lib/libnvrtc.so.13"
		if strings.HasSuffix(variable, "12") {
			name = folder + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
		}
		file, err := dl.Find(dl.NVRTC, dl.Locations{Explicit: name})
		if err != nil {
			t.Fatal(err)
		}
		library, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if found[variable], err = New(library.Path, library.Symbol); err != nil {
			t.Fatal(err)
		}
	}
	if len(found) == 0 {
		t.Skip("JITCACHE_TEST_CUDA12 and JITCACHE_TEST_CUDA13 name no NVRTC")
	}
	return found
}

const template = `#include "scale.h"
template <class T> __global__ void scale(T *x) { x[threadIdx.x] *= SCALE; }
`

func program(target Target, options ...string) *Program {
	return &Program{
		Source: template, Name: "scale.cu", Target: target,
		Options:     append([]string{"-arch=sm_80", "--no-cache"}, options...),
		Headers:     []Header{{"scale.h", "#define SCALE 3"}},
		Expressions: []string{"scale<float>", "scale<int>"},
	}
}

func TestEachTargetIsMade(t *testing.T) {
	for version, c := range compilers(t) {
		for target, begins := range map[Target]string{Cubin: "\x7fELF", PTX: "//\n", LTOIR: ""} {
			options := []string{}
			if target == LTOIR {
				options = append(options, "-dlto")
			}
			r, err := c.Compile(program(target, options...))
			if err != nil {
				t.Fatalf("%s %v: %v\n%s", version, target, err, logOf(err))
			}
			if code := string(r.Code.Data()); !strings.HasPrefix(code, begins) || code == "" || strings.HasSuffix(code, "\x00") && target == PTX {
				t.Errorf("%s %v begins with %.10q, ends with %q", version, target, code, code[max(0, len(code)-4):])
			}
			if r.Lowered["scale<float>"] != "_Z5scaleIfEvPT_" || r.Lowered["scale<int>"] != "_Z5scaleIiEvPT_" {
				t.Errorf("%s %v: lowered names are %v", version, target, r.Lowered)
			}
			r.Code.Release()
		}
	}
}

func logOf(err error) string {
	var failed *Failed
	if errors.As(err, &failed) {
		return failed.Log
	}
	return ""
}

func TestWhatTheCompilerSaysIsReturned(t *testing.T) {
	for version, c := range compilers(t) {
		p := program(Cubin)
		p.Expressions = nil
		p.Source = "__global__ void k() { int unused; }"
		r, err := c.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Log, "unused") {
			t.Errorf("%s: the log of a warning is %q", version, r.Log)
		}
		r.Code.Release()
		for source, word := range map[string]string{"__global__ void k() { nonsense; }": "nonsense", "#include <not/there.h>": "not/there.h"} {
			p.Source = source
			_, err = c.Compile(p)
			if !strings.Contains(logOf(err), word) {
				t.Errorf("%s: %q: %v, log %q", version, source, err, logOf(err))
			}
		}
		p.Source, p.Options = template, append(p.Options, "--no-such-option")
		if _, err = c.Compile(p); !strings.Contains(logOf(err), "--no-such-option") {
			t.Errorf("%s: an unknown option: %v, log %q", version, err, logOf(err))
		}
	}
}

func TestTargetThatTheOptionsDoNotGiveIsAnError(t *testing.T) {
	for version, c := range compilers(t) {
		p := program(Cubin)
		p.Options[0] = "-arch=compute_80"
		if _, err := c.Compile(p); !strings.Contains(logOf(err), "no cubin") {
			t.Errorf("%s: cubin of a virtual architecture: %v", version, err)
		}
		if _, err := c.Compile(program(LTOIR)); !strings.Contains(logOf(err), "no ltoir") {
			t.Errorf("%s: LTO-IR without -dlto: %v", version, err)
		}
	}
}

func TestThreadsCompileAtOnce(t *testing.T) {
	for version, c := range compilers(t) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				r, err := c.Compile(program(Cubin))
				if err != nil {
					t.Errorf("%s: %v", version, err)
					return
				}
				r.Code.Release()
			})
		}
		wait.Wait()
	}
}

func TestLibraryThatIsNoNVRTCIsAnError(t *testing.T) {
	if _, err := New("/libnvrtc.so", func(string) unsafe.Pointer { return nil }); err == nil || !strings.Contains(err.Error(), "nvrtcVersion") {
		t.Errorf("a library without functions: %v", err)
	}
}
