// Paths that the caller makes up anew each time, and the patterns that recognise them.

package launch

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jitcache/record"
)

// Invented is a pattern for paths that the caller makes up anew each time, in which * stands
// for anything but a slash. Name stands for such a path in keys and results.
type Invented struct{ Name, Pattern string }

// ParseInvented reads NAME=PATTERN.
func ParseInvented(text string) (in Invented, ok bool) {
	name, pattern, ok := strings.Cut(text, "=")
	pattern = filepath.Clean(pattern)
	ok = ok && name != "" && !strings.ContainsAny(name, "/\x00\x01\n{}") && len(pattern) > 1 && pattern[0] == '/'
	if _, err := filepath.Match(pattern, ""); err != nil {
		ok = false
	}
	return Invented{name, pattern}, ok
}

// find returns the places in words and in the folder to run in that match invented names. The
// first match of a pattern gets its name, the others a number behind it.
func find(invented []Invented, dir string, words []string) []record.Place {
	var places []record.Place
	for _, in := range invented {
		n := 0
		for _, text := range append([]string{dir}, words...) {
			for _, path := range in.in(text) {
				if slices.ContainsFunc(places, func(p record.Place) bool { return p.Path == path }) {
					continue
				}
				n++
				name := in.Name
				if n > 1 {
					name += "." + strconv.Itoa(n)
				}
				places = append(places, record.Place{Name: name, Path: path})
			}
		}
	}
	return places
}

// in returns the paths in a text that match the pattern, also in the middle of other paths:
// record.Mark decides which of those count.
func (in Invented) in(text string) (paths []string) {
	head, _, _ := strings.Cut(in.Pattern, "*")
	depth := strings.Count(in.Pattern, "/")
	for at := 0; ; at++ {
		i := strings.Index(text[at:], head)
		if i < 0 {
			return paths
		}
		at += i
		path := firstParts(text[at:], depth)
		if ok, _ := filepath.Match(in.Pattern, path); ok && path != "" && !strings.HasSuffix(path, "/") {
			paths = append(paths, path)
		}
	}
}

// firstParts returns the first n parts of the path that a text begins with, "" if it has fewer.
func firstParts(text string, n int) string {
	for i := range len(text) {
		if text[i] == '/' {
			n--
		}
		if n < 0 || strings.IndexByte(record.Signs, text[i]) >= 0 {
			return text[:i]
		}
	}
	if n > 0 {
		return ""
	}
	return text
}
