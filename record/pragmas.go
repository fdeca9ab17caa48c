// Sources with #pragma GCC dependency, which compares the times of files.

package record

import (
	"bytes"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
)

// #pragma GCC dependency "file" warns if a file is newer than the one that it stands in. So where
// a source has it, the modification times of all that the compiler has looked at count.

// dependent has which files have the pragma, by the digests of the files.
var dependent = request.NewTable[key.Digest, bool](mostRecent)

// findPragma notes whether a file that a compiler has read compares times. data is its content, nil
// if nobody has it.
func (t *taker) findPragma(n *observe.Name, digest key.Digest, data []byte) {
	if t.comparesTimes || t.run.Hermetic || !keepsDependency || n.Readers&t.known.compilers == 0 || isLibrary(n.Path) {
		return
	}
	found, known := dependent.Find(digest)
	if !known {
		if data == nil {
			var err error
			if data, _, err = readAll(n.Path, mostText); err != nil {
				return // longer than any source
			}
		}
		found = hasPragma(data)
		dependent.Put(digest, found)
	}
	t.comparesTimes = found
}

// mostText is up to how many bytes a file may be a source.
const mostText = 64 << 20

// hasPragma reports whether a source may have the pragma, behind # or in _Pragma: the word dependency behind
// the name of a compiler. Between the two may be blanks, comments and ends of lines that continue.
func hasPragma(data []byte) bool {
	word := []byte("dependency")
	for {
		at := bytes.Index(data, word)
		if at < 0 {
			return false
		}
		before := bytes.TrimRight(data[:at], " \t\v\f\r\n\\")
		if bytes.HasSuffix(before, []byte("GCC")) || bytes.HasSuffix(before, []byte("clang")) || bytes.HasSuffix(before, []byte("*/")) {
			return true
		}
		data = data[at+len(word):]
	}
}

// dependencies lets the times of all files count that compilers have looked at, if a source compares them.
func (t *taker) dependencies() {
	if !t.comparesTimes {
		return
	}
	looked := map[string]bool{}
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if n.Programs&t.known.compilers != 0 && n.Mode&unix.S_IFMT == unix.S_IFREG {
			for _, path := range t.forms(n) {
				looked[path] = true
			}
		}
	}
	for i := range t.list.Files {
		if f := &t.list.Files[i]; looked[f.Path] && f.Flags&Loader == 0 && !isLibrary(f.Path) {
			f.Flags |= Dated
		}
	}
}
