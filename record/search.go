// What was found in PATH, in place of its value.

package record

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// pip, uv and tox put a folder with an invented name in front of PATH for each build. Known programs use
// PATH in one way: they look for programs in its folders, one after the other. So of its value only
// counts what they have found: World.Also has each name with the first file of that name, and a lookup
// with another value searches again. Where a search would be told anything but that a name is absent or is
// a program, the value counts; and for programs that are not known it always does.

// searchedIn begins an entry of World.Also about a program that was looked for in PATH. Behind it are the name, a
// colon, and the path of the program, "" if there was none. No variable can have such a name.
const searchedIn = "PATH:"

var errStrange = errors.New("PATH does not lead to programs alone")

// searchPath returns the first program of a name in the folders of PATH, "" if it is in none, as execvp finds it. It
// returns an error if a folder is relative, or answers anything but that there is a program, or no such name.
func searchPath(value, name string) (string, error) {
	for _, folder := range strings.Split(value, ":") {
		if !filepath.IsAbs(folder) {
			return "", errStrange
		}
		path := folder + "/" + name
		var st unix.Stat_t
		switch err := unix.Stat(path, &st); {
		case err == syscall.ENOENT || err == syscall.ENOTDIR:
			continue
		case err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
			return "", errStrange
		}
		return path, nil
	}
	return "", nil
}

// valueOf returns a variable's value in an environment.
func valueOf(env []string, name string) (value string, set bool) {
	for _, e := range env {
		if value, set = strings.CutPrefix(e, name+"="); set {
			return value, true
		}
	}
	return "", false
}

// searched returns entries of World.Also for the names that were looked for in PATH; none if its value counts.
func (t *taker) searched() []string {
	value, set := valueOf(t.run.Env, "PATH")
	if !set || !keepsSearch || t.printsSearch() {
		return nil
	}
	folders := map[string]bool{}
	for _, folder := range strings.Split(value, ":") {
		folders[folder] = true
	}
	found := map[string]string{}
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		at := strings.LastIndexByte(n.Path, '/')
		if at < 0 || !folders[n.Path[:at]] || n.Bits&observe.Absolute == 0 {
			continue
		}
		name := n.Path[at+1:]
		if _, known := found[name]; known || name == "" || name == "." || name == ".." {
			continue
		}
		path, err := searchPath(value, name)
		if err != nil || strings.Contains(name, ":") || len(found) == mostSearched {
			return nil
		}
		found[name] = path
	}
	entries := []string{searchedIn}
	for name, path := range found {
		entries = append(entries, searchedIn+name+":"+placed(path, t.run.Places))
	}
	return entries
}

// mostSearched is how many names are looked for again in another PATH.
const mostSearched = 64

// printsSearch reports whether a program was asked to say where it looks, or what it runs.
func (t *taker) printsSearch() bool {
	return slices.ContainsFunc(t.run.Report.Programs, func(p observe.Program) bool {
		return slices.ContainsFunc(p.Args, func(word string) bool {
			return slices.ContainsFunc(strings.Split(word, ","), func(w string) bool {
				return w == "-v" || w == "-###" || w == "-V" || w == "--verbose" || strings.HasPrefix(w, "-print") || strings.HasPrefix(w, "--print")
			})
		})
	})
}

// bySearch reports whether of PATH only counts what was found in it.
func (w *World) bySearch() bool { return slices.Contains(w.Also, searchedIn) }

// withoutPath returns variables without PATH.
func withoutPath(all []Variable) []Variable {
	i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == "PATH" })
	if i < 0 {
		return all
	}
	return slices.Delete(slices.Clone(all), i, i+1)
}

// searchDiffers says what is found in another place in another PATH, "" if nothing is. was and is are the variables with PATH.
func (s *Surroundings) searchDiffers(w *World, was, is []Variable) string {
	ofPath := func(v Variable) bool { return v.Name == "PATH" }
	a, b := slices.IndexFunc(was, ofPath), slices.IndexFunc(is, ofPath)
	if a < 0 || b < 0 {
		return difference(was, is)
	}
	if was[a].Value == is[b].Value {
		return ""
	}
	value, _ := valueOf(s.all(), "PATH")
	for _, entry := range w.Also {
		name, path, about := strings.Cut(strings.TrimPrefix(entry, searchedIn), ":")
		if !strings.HasPrefix(entry, searchedIn) || !about {
			continue
		}
		found, err := searchPath(value, name)
		if err != nil {
			return "PATH has another value"
		}
		if placed(found, s.Places) != path {
			return "PATH finds another " + name
		}
	}
	return ""
}
