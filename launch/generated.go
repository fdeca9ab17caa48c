// What a command has left and printed that contains names which the caller makes up anew each time.

package launch

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jitcache/core/request"
	"jitcache/record"
)

// mark puts the names of places into a text in place of their paths. It refuses a binary file
// that contains such a path.
func (t *taker) mark(path string, data []byte) ([]byte, bool, error) {
	marked := data
	if !marks {
		return data, false, nil
	}
	for _, p := range t.request.places {
		if bytes.Contains(data, symbolOf(p.Path)) && seesDerived {
			return nil, false, request.Refuse(path, "contains a symbol made of the generated path {"+p.Name+"}")
		}
		if !bytes.Contains(data, []byte(p.Path)) {
			continue
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return nil, false, request.Refuse(path, "contains the generated path {"+p.Name+"}; set JITCACHE_MAP=-ffile-prefix-map")
		}
		marked = []byte(record.Mark(string(data), t.request.places))
	}
	if !bytes.Equal(marked, data) && record.Unmark(string(marked), t.request.places) != string(data) {
		return nil, false, request.Refuse(path, "contains text that cannot be told from a placeholder")
	}
	for _, p := range t.request.places {
		if bytes.Contains(marked, []byte(p.Path)) {
			return nil, false, request.Refuse(path, "contains the generated path {"+p.Name+"} as a part of another")
		}
	}
	return marked, !bytes.Equal(marked, data), nil
}

// symbolOf returns how the names begin that ld -b binary and objcopy -I binary make of a path.
func symbolOf(path string) []byte {
	symbol := []byte("_binary_" + path)
	for i, c := range symbol {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			symbol[i] = '_'
		}
	}
	return symbol
}

// derived says if an output's name is made of that of an invented file, such as /tmp/x1.c, but is not its name, nor in the
// command: with another name the command would leave another output.
func (t *taker) derived(path string) string {
	base := filepath.Base(path)
	named := func(w string) bool { return strings.Contains(record.Mark(w, t.request.places), base) }
	if !seesDerived || slices.ContainsFunc(t.request.words, named) {
		return ""
	}
	for _, p := range t.request.places {
		whole := filepath.Base(p.Path)
		stem := strings.TrimSuffix(whole, filepath.Ext(whole))
		rest, ok := strings.CutPrefix(base, cmp.Or(stem, whole))
		if info, err := os.Stat(p.Path); ok && (err != nil || !info.IsDir()) && (rest == "" || strings.IndexByte(".-_", rest[0]) >= 0) {
			return "is named after the generated path {" + p.Name + "}"
		}
	}
	return ""
}
