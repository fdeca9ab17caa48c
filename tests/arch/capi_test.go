// The C files of the front are in the order of its README.

package arch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cFile is a file of the front: what it includes, declares and uses.
type cFile struct {
	room     string // its row in the table
	includes []string
	declares map[string]bool // names for those that include it
	defines  []string        // public functions
	uses     map[string]bool
}

var (
	comment     = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	literal     = regexp.MustCompile(`"(\\.|[^"\\\n])*"`)
	include     = regexp.MustCompile(`(?m)^#include "([^"]+)"`)
	word        = regexp.MustCompile(`\b(?:jc|JC|jitcache|JITCACHE)_\w+`)
	declaration = regexp.MustCompile(`(?m)^(?:#define (\w+)|.*\b(j(?:c|itcache)_\w+)\(|typedef .*?(\w+)(?:\[\w+\])?;|\} (\w+);|extern .*?(\w+);|enum (\w+) \{|(?:enum .*?|\t)\b(J\w+)(?:,| =| \}))`)
	definition  = regexp.MustCompile(`(?m)^[a-z].*?\b(jitcache_\w+)\(`)
)

func readC(t *testing.T, path string) cFile {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := cFile{declares: map[string]bool{}, uses: map[string]bool{}}
	f.room = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	text := comment.ReplaceAllString(string(raw), "")
	for _, m := range include.FindAllStringSubmatch(text, -1) {
		f.includes = append(f.includes, m[1])
	}
	text = literal.ReplaceAllString(text, `""`)
	for _, name := range word.FindAllString(text, -1) {
		f.uses[name] = true
	}
	if filepath.Ext(path) == ".c" {
		for _, m := range definition.FindAllStringSubmatch(text, -1) {
			f.defines = append(f.defines, m[1])
		}
		return f
	}
	for _, m := range declaration.FindAllStringSubmatch(text, -1) {
		for _, name := range m[1:] {
			f.declares[name] = name != ""
		}
	}
	// The names of an enum, on several lines or on one.
	for _, m := range regexp.MustCompile(`(?s)enum (?:\w+ )?\{(.*?)\}`).FindAllStringSubmatch(text, -1) {
		for _, name := range word.FindAllString(m[1], -1) {
			f.declares[name] = true
		}
	}
	return f
}

// front returns the C files of capi, by name, and the height of each in the order of its
// README.
func front(t *testing.T) (files map[string]cFile, height map[string]int) {
	t.Helper()
	capi := filepath.Join(root(t), "capi")
	files, height = map[string]cFile{}, map[string]int{}
	for _, pattern := range []string{"*.c", "*.h"} {
		found, _ := filepath.Glob(filepath.Join(capi, pattern))
		for _, path := range found {
			files[filepath.Base(path)] = readC(t, path)
		}
	}
	readme, err := os.ReadFile(filepath.Join(capi, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(string(readme), -1)
	for i, row := range rows {
		height[row[1]] = len(rows) - i
	}
	// Files may use these through the headers that include them: the order of locks through
	// locks.h; the memory tier, blobs and the public headers through core.h.
	maps.Copy(files["locks.h"].declares, readC(t, filepath.Join(root(t), "core/mutex/mutex.h")).declares)
	for _, name := range []string{"core/blob/blob.h", "core/memory/memory.h", "include/jitcache.h", "include/jitcache_cuda.h", "include/jitcache_native.h"} {
		maps.Copy(files["core.h"].declares, readC(t, filepath.Join(root(t), name)).declares)
	}
	return files, height
}

// outOfOrder returns which files of the front use files above them.
func outOfOrder(files map[string]cFile, height map[string]int) (wrong []string) {
	definedIn := map[string]string{}
	for _, f := range files {
		for _, name := range f.defines {
			definedIn[name] = f.room
		}
	}
	for name, f := range files {
		above := func(room string) bool { return room != f.room && height[room] >= height[f.room] }
		for _, i := range f.includes {
			if below := strings.TrimSuffix(i, ".h"); !strings.Contains(i, "/") && above(below) {
				wrong = append(wrong, name+" includes "+i+", which stands above it")
			}
		}
		for used := range f.uses {
			if room := definedIn[used]; room != "" && above(room) && strings.HasSuffix(name, ".c") {
				wrong = append(wrong, name+" calls "+used+" of "+room+".c, which stands above it")
			}
		}
	}
	return wrong
}

// misincluded returns which files of the front use a file without including it, or include
// a file without using it. The header of a C file may include files for it.
func misincluded(files map[string]cFile) (wrong []string) {
	declaredIn := map[string]string{}
	for name, f := range files {
		for d := range f.declares {
			declaredIn[d] = name
		}
	}
	for name, f := range files {
		own := f.room + ".h"
		included := append([]string{name, own}, f.includes...)
		if name != own {
			included = append(included, files[own].includes...)
		}
		need := map[string]bool{}
		for used := range f.uses {
			header := declaredIn[used]
			need[header] = true
			if header != "" && !slices.Contains(included, header) {
				wrong = append(wrong, name+" uses "+used+", and does not include "+header)
			}
		}
		for _, i := range f.includes {
			if _, isOurs := files[i]; isOurs && i != own && !need[i] {
				wrong = append(wrong, name+" includes "+i+", and uses nothing of it")
			}
		}
	}
	return wrong
}

// A file is above the files that it includes or calls.
func TestFrontIsInTheOrderOfItsTable(t *testing.T) {
	files, height := front(t)
	if len(files) < 40 {
		t.Fatalf("%d files of C, which cannot be all", len(files))
	}
	for _, wrong := range outOfOrder(files, height) {
		t.Error(wrong)
	}
	seen := map[string]bool{}
	for name, f := range files {
		seen[f.room] = true
		if height[f.room] == 0 {
			t.Errorf("capi/README.md has no row for %s", name)
		}
	}
	for room := range height {
		if !seen[room] {
			t.Errorf("capi/README.md has a row for %s, which is no file", room)
		}
	}
}

func TestFrontIncludesWhatItUses(t *testing.T) {
	files, _ := front(t)
	for _, wrong := range misincluded(files) {
		t.Error(wrong)
	}
}

// outOfOrder and misincluded find planted faults.
func TestOrderOfTheFrontIsSeen(t *testing.T) {
	plant := func(name string, change func(f *cFile)) (map[string]cFile, map[string]int) {
		files, height := front(t)
		f := files[name]
		change(&f)
		files[name] = f
		return files, height
	}
	one := func(what string, wrong []string, part string) {
		if len(wrong) != 1 || !strings.Contains(wrong[0], part) {
			t.Errorf("%s: %q", what, wrong)
		}
	}
	one("an arrow upwards", outOfOrder(plant("handles.c", func(f *cFile) { f.includes = append(f.includes, "thread.h") })), "includes thread.h")
	one("a call upwards", outOfOrder(plant("thread.c", func(f *cFile) { f.uses["jitcache_lease_free"] = true })), "calls jitcache_lease_free")
	files, _ := plant("calls.c", func(f *cFile) { f.includes = append(f.includes, "options.h") })
	one("what is not used", misincluded(files), "uses nothing")
	files, _ = plant("bytes.c", func(f *cFile) { f.uses["jc_log_push"] = true })
	one("what is not included", misincluded(files), "does not include log.h")
}

// A file is used only through its header.
func TestFrontDeclaresInHeaders(t *testing.T) {
	files, _ := front(t)
	for name := range files {
		if filepath.Ext(name) != ".c" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root(t), "capi", name))
		if err != nil {
			t.Fatal(err)
		}
		text := comment.ReplaceAllString(string(raw), "")
		if m := regexp.MustCompile(`(?m)^(?:extern .*\bjc_.*|[a-z].*\bjc_\w+\([^{}]*\);)$`).FindString(text); m != "" {
			t.Errorf("%s declares what a header is to: %s", name, m)
		}
	}
}
