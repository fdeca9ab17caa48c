package cli

import (
	"os"
	"path/filepath"
	"regexp"
)

// Version is what `jitcache version` prints. The build (build_library.py) sets it to what
// the header states, the one place where it is stated (CONTRIBUTING.md, "A release").
var Version = "of an unknown version"

// glibc is the version of the machine's C library, by what that says of itself: this
// program has loaded none. "" if it is another C library.
func glibc() string {
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			text, err := os.ReadFile(path)
			if m := regexp.MustCompile(`GNU C Library.*? version (\d+\.\d+)`).FindSubmatch(text); err == nil && m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}
