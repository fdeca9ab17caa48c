// The Go files of a room call in one direction: down, in the order of the table in its README.

package arch

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// call is a function or method of one file that another file uses.
type call struct{ from, to, function string }

func (c call) String() string { return c.from + " calls " + c.function + " of " + c.to }

// open are the rooms whose files call in circles, until somebody orders them.
var open = []string{"capi", "command", "launch", "record"}

// largeRoom is the number of files from which on a room needs a table that says in what order they are read.
const largeRoom = 12

// elsewhere stands for every package that a room imports: only calls within the room count.
type elsewhere struct{}

func (elsewhere) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// parsed returns the Go files of a room that are compiled on this machine, without tests.
func parsed(t *testing.T, fset *token.FileSet, room string) (files []*ast.File) {
	t.Helper()
	dir := filepath.Join(root(t), room)
	sources, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, source := range sources {
		if fits, err := build.Default.MatchFile(dir, filepath.Base(source)); strings.HasSuffix(source, "_test.go") || err != nil || !fits {
			continue
		}
		f, err := parser.ParseFile(fset, source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// fileName returns the name of a file in a table: at_syscalls for at_syscalls.go and at_syscalls_amd64.go.
func fileName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".go")
	return strings.TrimSuffix(name, "_"+runtime.GOARCH)
}

// callsOf returns the names of files, and the calls between them. A use of a function as a value is a call too.
func callsOf(fset *token.FileSet, files []*ast.File) (names []string, calls []call) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// What other packages declare is unknown, and so an error, which does not matter here.
	check := types.Config{Importer: elsewhere{}, Error: func(error) {}, FakeImportC: true}
	check.Check("room", fset, files, info)
	fileOf := func(p token.Pos) string { return fileName(fset.Position(p).Filename) }
	for _, f := range files {
		if name := fileOf(f.Package); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	found := map[call]bool{}
	for use, what := range info.Uses {
		if fn, ok := what.(*types.Func); ok && fn.Pos().IsValid() && fileOf(use.Pos()) != fileOf(fn.Pos()) {
			found[call{fileOf(use.Pos()), fileOf(fn.Pos()), fn.Name()}] = true
		}
	}
	return names, slices.SortedFunc(maps.Keys(found), func(a, b call) int { return strings.Compare(a.String(), b.String()) })
}

// inCircles returns the calls whose callee leads back to the caller.
func inCircles(calls []call) (circles []call) {
	below := map[string][]string{}
	for _, c := range calls {
		below[c.from] = append(below[c.from], c.to)
	}
	leads := func(from, to string) bool {
		seen, next := map[string]bool{}, []string{from}
		for len(next) > 0 {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			if at == to {
				return true
			}
			if !seen[at] {
				seen[at] = true
				next = append(next, below[at]...)
			}
		}
		return false
	}
	for _, c := range calls {
		if leads(c.to, c.from) {
			circles = append(circles, c)
		}
	}
	return circles
}

// upward returns the calls against an order of files, the top first.
func upward(calls []call, order []string) (up []call) {
	for _, c := range calls {
		if slices.Index(order, c.to) < slices.Index(order, c.from) {
			up = append(up, c)
		}
	}
	return up
}

var row = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// tableOf returns the files in the table of a room's README, the top first.
func tableOf(t *testing.T, room string) (order []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), room, "README.md"))
	if err != nil {
		return nil
	}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		order = append(order, m[1])
	}
	return order
}

func TestFilesOfARoomCallInOneDirection(t *testing.T) {
	for room := range uses {
		if slices.Contains(open, room) {
			continue
		}
		fset := token.NewFileSet()
		files := parsed(t, fset, room)
		names, calls := callsOf(fset, files)
		for _, c := range inCircles(calls) {
			t.Errorf("%s: %v, which leads back to it", room, c)
		}
		order := tableOf(t, room)
		if len(order) == 0 {
			if len(names) >= largeRoom {
				t.Errorf("%s has %d files, and no README.md with a table of them, the top first", room, len(names))
			}
			continue
		}
		for _, name := range names {
			if !slices.Contains(order, name) {
				t.Errorf("%s/README.md has no row for %s.go", room, name)
			}
		}
		for _, name := range order {
			if found, _ := filepath.Glob(filepath.Join(root(t), room, name+".*")); len(found) == 0 {
				t.Errorf("%s/README.md has a row for %s, which is no file", room, name)
			}
		}
		for _, c := range upward(calls, order) {
			t.Errorf("%s: %v, which stands above it in README.md", room, c)
		}
	}
}

// The check sees functions, methods, and functions that are used as values.
func TestCallsAgainstTheOrderAreSeen(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{
		"top.go":    "package p\nimport \"os\"\nfunc top() { bottom(); os.Exit(thing{}.method()) }",
		"middle.go": "package p\nvar table = []func(){top}",
		"bottom.go": "package p\nfunc bottom() {}\ntype thing struct{}\nfunc (thing) method() int { return len(table) }",
	} {
		f, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	_, calls := callsOf(fset, files)
	if got, want := fmt.Sprint(calls), "[middle calls top of top top calls bottom of bottom top calls method of bottom]"; got != want {
		t.Errorf("calls: %s, want %s", got, want)
	}
	if got := upward(calls, []string{"top", "middle", "bottom"}); len(got) != 1 || got[0].from != "middle" {
		t.Errorf("upward: %v", got)
	}
	if got := inCircles(calls); len(got) != 0 {
		t.Errorf("circles: %v", got)
	}
	if got := inCircles(append(calls, call{"bottom", "middle", "f"})); len(got) != 4 {
		t.Errorf("circles: %v", got)
	}
}
