// The versions of the command and of the machine's C library.

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// Version is what `jitcache version` prints. The build (build_library.py) sets it to what
// the header states, the one place where it is stated (CONTRIBUTING.md, "A release").
var Version = "of an unknown version"

// glibc returns the version of the machine's C library, "" if it is not glibc. It reads
// the library's file, because this program loads no C library.
func glibc() string {
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			if text, err := os.ReadFile(path); err == nil {
				if version := glibcOf(text); version != "" {
					return version
				}
			}
		}
	}
	return ""
}

// glibcOf returns the version in a line like "GNU C Library (Debian GLIBC 2.36-9) stable
// release version 2.36.", "" if there is none. It does without package regexp, whose tables
// make each start of the program longer.
func glibcOf(text []byte) string {
	for line := range bytes.Lines(text) {
		_, said, ok := bytes.Cut(line, []byte("GNU C Library"))
		for ok {
			if _, said, ok = bytes.Cut(said, []byte(" version ")); !ok {
				break
			}
			var major, minor int
			if n, _ := fmt.Sscanf(string(said[:min(len(said), 16)]), "%d.%d", &major, &minor); n == 2 {
				return fmt.Sprintf("%d.%d", major, minor)
			}
		}
	}
	return ""
}

func (c *command) versionCommand() *ffcli.Command {
	return c.newCommand("version", "print the version", nil, 0, 0, func([]string) error {
		return c.printVersion()
	})
}
