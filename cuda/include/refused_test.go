package include

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"jitcache/core/manifest"
	"jitcache/core/request"
)

func TestWhatCannotBeKnownIsRefusedWithItsPlace(t *testing.T) {
	const cat = "#define S(x) T(x)\n#define T(x) #x\n"
	for _, c := range []struct{ name, source, what, why string }{
		{"out of the search path", cat + "\n#include S(../__CUDA_ARCH__.h)\n", "k.cu:4", "#include S(../__CUDA_ARCH__.h) cannot be resolved: __CUDA_ARCH__ is NVRTC's own"},
		{"absolute", cat + "#include S(/x/__CUDA_ARCH__.h)\n", "k.cu:3", "cannot be resolved"},
		{"this file", "#include __FILE__\n", "k.cu:1", "__FILE__ is NVRTC's own"},
		{"too many ways", "#define A 1\n#define A 2\n#define A 3\n#define A 4\n#include A A A A A A A\n", "k.cu:5", "too many ways to expand it"},
		{"a pipe", "#include \"pipe\"\n", "pipe", "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := syscall.Mkfifo("pipe", 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Find(&Request{Source: c.source, Name: "k.cu"})
			var refused *request.Refused
			if !errors.As(err, &refused) || refused.What != c.what || !strings.Contains(refused.Why, c.why) {
				t.Errorf("%v, want %s: …%s…", err, c.what, c.why)
			}
		})
	}
}

// NVRTC passes over a link that leads nowhere, in a circle too.
func TestLinkInACircleIsAbsentUntilItLeadsSomewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	os.Symlink("a.h", "a.h")
	write(t, "inc/a.h", v1)
	c := find(t, &Request{Source: "#include \"a.h\"\n", Name: "k.cu", Dirs: []string{"inc"}})
	if state, why := c.List.Check(); state == manifest.Changed || len(c.List.Files) != 1 {
		t.Fatalf("state %d, %s, files %v", state, why, c.List.Files)
	}
	os.Remove("a.h")
	os.Symlink("inc/../other.h", "a.h")
	write(t, "other.h", v2)
	if state, _ := c.List.Check(); state != manifest.Changed {
		t.Errorf("the link leads to a file: state %d", state)
	}
}

// A folder that is not there yet may bring the header that is meant.
func TestEverythingNoticesWhatAppears(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "inc/800.h", v1)
	req := &Request{Source: "#define S(x) T(x)\n#define T(x) #x\n#include S(__CUDA_ARCH__.h)\n", Name: "src/k.cu", Dirs: []string{"inc", "none/below"}}
	for _, path := range []string{"inc/900.h", "inc/x/900.h", "src/800.h", "none/below/800.h"} {
		c := find(t, req)
		if len(c.List.Folders) == 0 {
			t.Fatal("no folders")
		}
		if state, why := c.List.Check(); state == manifest.Changed {
			t.Fatal(why)
		}
		write(t, path, v2)
		if state, _ := c.List.Check(); state != manifest.Changed {
			t.Errorf("%s appeared: state %d", path, state)
		}
	}
}
