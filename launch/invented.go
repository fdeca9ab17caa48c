package launch

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jitcache/record"
)

// Invented is a name that the caller makes up each time, as a pattern for a path:
// * stands for anything but a slash. Name is what it is called instead.
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

// find returns the places that words, and the folder to run in, have of invented
// names. The first of a pattern has its name, the others a number behind it.
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

// in returns the paths in a text that match the pattern, in the middle of others too:
// record.Mark decides which of those are meant.
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

// firstParts returns the path that a text begins with, as far as n parts of it.
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
