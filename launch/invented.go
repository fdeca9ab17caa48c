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
type Invented struct {
	Name string
	// Pattern is absolute, or begins with "./": then it is one for paths below the folder to run in.
	Pattern string
}

// ParseInvented reads NAME=PATTERN.
func ParseInvented(text string) (in Invented, ok bool) {
	name, pattern, ok := strings.Cut(text, "=")
	below, relative := strings.CutPrefix(pattern, "./")
	pattern = filepath.Clean(pattern)
	if relative {
		below = filepath.Clean(below)
		ok = ok && isTelling(below)
		pattern = "./" + below
	}
	ok = ok && name != "" && !strings.ContainsAny(name, "/\x00\x01\n{}") && len(pattern) > 1 && (relative || pattern[0] == '/')
	if _, err := filepath.Match(pattern, ""); err != nil {
		ok = false
	}
	return Invented{name, pattern}, ok
}

// isTelling reports whether a pattern for relative paths tells these from other words: any option
// matches "*".
func isTelling(pattern string) bool {
	first, _, _ := strings.Cut(pattern, "/")
	return strings.Trim(first, "*") != "" && first != ".." && first != "."
}

// find returns the places in words, in the folder to run in, and in variables that match invented names. The
// first match of a pattern gets its name, the others a number behind it. The first inWords of them are not in
// variables alone.
func find(invented []Invented, dir string, words, env []string) (places []record.Place, inWords int) {
	if len(invented) == 0 {
		return nil, 0
	}
	f := finder{invented: invented, dir: strings.TrimSuffix(dir, "/") + "/", numbers: map[string]int{}}
	f.findIn(append([]string{dir}, words...))
	inWords = len(f.places)
	if findsMore {
		f.findIn(valuesOf(env))
	}
	return f.places, inWords
}

// valuesOf returns the values of variables in the order of their names, without those that no command needs: a
// socket of the session may be in a folder that matches.
func valuesOf(env []string) (values []string) {
	env = record.Withhold(env)
	slices.Sort(env)
	for _, e := range env {
		_, value, _ := strings.Cut(e, "=")
		values = append(values, value)
	}
	return values
}

// finder collects places.
type finder struct {
	invented []Invented
	dir      string // the folder to run in, with a slash behind it
	places   []record.Place
	numbers  map[string]int // how many places each pattern has
}

func (f *finder) findIn(texts []string) {
	for _, in := range f.invented {
		for _, text := range texts {
			whole, below := in.patterns(f.dir)
			for _, path := range whole.in(text) {
				f.add(in, path)
			}
			for _, path := range below.in(text) {
				if findsMore {
					f.addRelative(in, path)
				}
			}
		}
	}
}

// add adds a place for an absolute path if there is none, and returns its name.
func (f *finder) add(in Invented, path string) (name string) {
	if i := slices.IndexFunc(f.places, func(p record.Place) bool { return p.Path == path }); i >= 0 {
		return f.places[i].Name
	}
	for taken := true; taken; { // a second T is T.2, unless another pattern has that name
		f.numbers[in.Name]++
		name = in.Name
		if n := f.numbers[in.Name]; n > 1 {
			name += "." + strconv.Itoa(n)
		}
		taken = name != in.Name && slices.ContainsFunc(f.invented, func(o Invented) bool { return o.Name == name })
	}
	f.places = append(f.places, record.Place{Name: name, Path: path})
	return name
}

// addRelative adds two places for a path below the folder to run in: one as it is written, and one for the whole path.
func (f *finder) addRelative(in Invented, path string) {
	name := f.add(in, f.dir+path) + record.Relative
	if !slices.ContainsFunc(f.places, func(p record.Place) bool { return p.Path == path }) {
		f.places = append(f.places, record.Place{Name: name, Path: path})
	}
}

// pattern matches paths that begin with a text; what follows that is a pattern of filepath.Match. The zero pattern
// matches nothing.
type pattern struct{ begin, rest string }

// patterns returns what matches absolute paths, and paths that are relative to the folder to run in. A pattern in which
// the first name is * would match any word, and so is none.
func (in Invented) patterns(dir string) (whole, below pattern) {
	if rest, ok := strings.CutPrefix(in.Pattern, "./"); ok {
		return pattern{dir, rest}, pattern{"", rest}
	}
	depth := strings.Count(dir, "/")
	parts := strings.SplitN(in.Pattern, "/", depth+1)
	if len(parts) > depth {
		leads, _ := filepath.Match(strings.Join(parts[:depth], "/")+"/", dir)
		if rest := parts[depth]; leads && isTelling(rest) {
			below.rest = rest
		}
	}
	return pattern{"", in.Pattern}, below
}

// in returns the paths in a text that match the pattern, absolute ones also in the middle of other paths:
// record.Mark decides which of those count.
func (p pattern) in(text string) (paths []string) {
	if p.rest == "" {
		return nil
	}
	head, _, _ := strings.Cut(p.rest, "*")
	relative := p.begin == "" && p.rest[0] != '/'
	for at := 0; at < len(text); at++ {
		i := strings.Index(text[at:], p.begin+head)
		if i < 0 {
			return paths
		}
		at += i
		rest := firstParts(text[at+len(p.begin):], strings.Count(p.rest, "/"))
		path := p.begin + rest
		if ok, _ := filepath.Match(p.rest, rest); !ok || rest == "" || strings.HasSuffix(rest, "/") {
			continue
		}
		if !relative || path[0] != '-' && record.BeginsPath(text[:at], path) {
			paths = append(paths, path)
		}
	}
	return paths
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
