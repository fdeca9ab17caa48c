// What options mean for a result.

package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
)

// real returns the installed NVRTCs, by the variable that names their wheels.
func real(t *testing.T) map[string]*nvrtc.Compiler {
	t.Helper()
	found := map[string]*nvrtc.Compiler{}
	for variable, below := range map[string]string{
		"JITCACHE_TEST_CUDA12": "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "JITCACHE_TEST_CUDA13": "nvidia/cu13/lib/libnvrtc.so.13",
	} {
		if folder := os.Getenv(variable); folder != "" {
			c, err := compilerOf(dl.Locations{Explicit: filepath.Join(folder, below)})
			if err != nil {
				t.Fatal(err)
			}
			found[variable] = c
		}
	}
	if len(found) == 0 {
		t.Skip("JITCACHE_TEST_CUDA12 and JITCACHE_TEST_CUDA13 name no NVRTC")
	}
	return found
}

// values are the values for options that need one.
var values = map[string]string{
	"-arch": "sm_80", "--gpu-architecture": "sm_80", "-std": "c++17", "--std": "c++17", "-D": "X=1", "--define-macro": "X=1", "-U": "X",
	"--undefine-macro": "X", "-I": "include", "--include-path": "include", "-include": "a.h", "--pre-include": "a.h",
	"-maxrregcount": "64", "--maxrregcount": "64", "-diag-suppress": "177", "--diag-suppress": "177", "-diag-error": "177",
	"--diag-error": "177", "-diag-warn": "177", "--diag-warn": "177", "-Werror": "cross-execution-space-call",
	"--warning-as-error": "cross-execution-space-call", "-split-compile": "1", "--split-compile": "1",
}

var flags = "rdc relocatable-device-code ftz prec-sqrt prec-div fmad builtin-move-forward builtin-initializer-list"

const local = "#include \"a.h\"\nstatic __global__ void k(float *p) { *p = sqrtf(*p) / 3 + A; }\n" +
	"template <class T> __global__ void t(T *p) { *p += A; }\ntemplate __global__ void t<int>(int *);\n"

// Each plain option is tried in two folders.
func TestFolderIsNotInTheResult(t *testing.T) {
	folders := []string{t.TempDir(), filepath.Join(t.TempDir(), "a", "longer", "name")}
	for _, folder := range folders {
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "a.h"), []byte("#define A 1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for version, c := range real(t) {
		tried := 0
		for option := range plain {
			value := values[option]
			if strings.Contains(" "+flags+" ", " "+strings.TrimLeft(option, "-")+" ") {
				value = "true"
			}
			with := []string{"-arch=sm_80", option}
			if value != "" {
				with = []string{"-arch=sm_80", option + "=" + value}
			}
			if len(option) == 2 && value != "" {
				with = []string{"-arch=sm_80", option, value}
			}
			for _, target := range []nvrtc.Target{nvrtc.Cubin, nvrtc.PTX} {
				var made []string
				for _, folder := range folders {
					t.Chdir(folder)
					r, err := c.Compile(&nvrtc.Program{Source: local, Name: "k.cu", Options: with, Target: target})
					if err == nil {
						made = append(made, string(r.Code.Data()))
						r.Code.Release()
					}
				}
				if len(made) == 0 {
					continue // this version does not know it
				}
				tried++
				if len(made) != 2 || made[0] != made[1] {
					t.Errorf("%s: %v: the %v is another in another folder", version, with, target)
				}
			}
		}
		if tried < len(plain) {
			t.Errorf("%s: %d of %d were tried", version, tried, 2*len(plain))
		}
	}
}

func TestOptionsThatWereNotTriedShowTheFolder(t *testing.T) {
	for options, want := range map[string]bool{
		"": false, "-arch=sm_80 -DX=1 -I include": false, "-lineinfo": true, "-G": true, "-dlto": true, "@file": true, "-Xptxas -v": true,
		"--no-such": true,
	} {
		if got := showsFolder(nvrtc.Cubin, strings.Fields(options), nil); got != want {
			t.Errorf("%q: %v", options, got)
		}
	}
	if !showsFolder(nvrtc.LTOIR, nil, nil) || !showsFolder(nvrtc.PTX, nil, []string{"NVRTC_APPEND_FLAGS=-G"}) {
		t.Error("LTO-IR, and options of the environment, show the folder")
	}
}

func TestArchitectureIsThatOfTheLastOption(t *testing.T) {
	for options, want := range map[string]string{
		"": "", "-arch=sm_80": "sm_80", "-arch sm_90": "sm_90", "--gpu-architecture=sm_80 -arch=sm_90": "sm_90", "-DX": "",
	} {
		if got := archOf(strings.Fields(options)); got != want {
			t.Errorf("%q: %q", options, got)
		}
	}
}
