// The library that was installed with the command: where it is, and what built it.

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jitcache/core"
)

// locate tells the core where the storage helper is.
func locate() {
	core.StorageProgram = func() string { return core.FindStorage(programPath()) }
}

// programPath is the path of this program.
func programPath() string {
	exe, _ := os.Executable()
	return exe
}

// library is the file libjitcache.so. The command reads it, and does not load it.
type library struct {
	path string
	data []byte
}

// findLibrary returns the library that JITCACHE_LIBRARY names, else the one that was
// installed with the program. The path is empty if there is none; the data is empty if the
// file is not a library.
func (c *command) findLibrary() library {
	if path := c.env("JITCACHE_LIBRARY"); path != "" {
		return readLibrary(path)
	}
	helper := filepath.Dir(core.FindStorage(programPath()))
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

// built returns the Go release that built the library, and what the build has changed in
// Go's runtime. The build writes both into the library (capi/main.go).
func (l library) built() (release, runtime string) {
	_, rest, found := bytes.Cut(l.data, []byte("jitcache library <"))
	text, _, closed := bytes.Cut(rest, []byte(">"))
	if !found || !closed {
		return "", ""
	}
	release, runtime, _ = strings.Cut(string(text), ", ")
	return release, runtime
}

// glibcNeed returns the newest version of glibc among the library's symbols: the version
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
