package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jitcache/core"
)

// locate says where the helper of remotes is.
func locate() {
	core.StorageProgram = func() string { return core.FindStorage(program()) }
}

// program is the file of the program that runs.
func program() string {
	exe, _ := os.Executable()
	return exe
}

// library is libjitcache.so as it lies on the disk: the command does not load it.
type library struct {
	path string
	data []byte
}

// findLibrary returns the library that was installed with the program, or the one that
// JITCACHE_LIBRARY names. It has no path if there is none, and no data if it is not one.
func (c *command) findLibrary() library {
	if path := c.env("JITCACHE_LIBRARY"); path != "" {
		return readLibrary(path)
	}
	helper := filepath.Dir(core.FindStorage(program()))
	for _, place := range []string{"libjitcache.so.1", "libjitcache.so", "../../lib/libjitcache.so.1"} {
		if path := filepath.Join(helper, place); filepath.IsAbs(helper) {
			if _, err := os.Stat(path); err == nil {
				return readLibrary(path)
			}
		}
	}
	return library{}
}

func readLibrary(path string) library {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return library{path: path}
	}
	return library{path, data}
}

// built says with which Go the library was built, and what has been done to the runtime
// in it. The build puts that into it (capi/main.go).
func (l library) built() (release, runtime string) {
	_, rest, found := bytes.Cut(l.data, []byte("jitcache library <"))
	text, _, closed := bytes.Cut(rest, []byte(">"))
	if !found || !closed {
		return "", ""
	}
	release, runtime, _ = strings.Cut(string(text), ", ")
	return release, runtime
}

// glibcNeed returns the newest version of glibc that the library names, which is the one
// that it needs.
func (l library) glibcNeed() string {
	best, text, data := -1, "", l.data
	for {
		_, rest, found := bytes.Cut(data, []byte("GLIBC_2."))
		if !found {
			return text
		}
		data = rest
		n := 0
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && n < 1000 {
			n, rest = 10*n+int(rest[0]-'0'), rest[1:]
		}
		if n > best {
			best, text = n, fmt.Sprintf("2.%d", n)
		}
	}
}
