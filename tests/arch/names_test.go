// A verb that many functions share takes its object: takeBytes, takeWorker.

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostAlike is how many functions may have a name of one word, such as take. Whoever follows a call by its name finds all of them.
const mostAlike = 5

// mostShared is how many functions have a one-word name that more than mostAlike share. The number only falls: a new
// function says in its name what it acts on, and whoever renames some lowers it.
const mostShared = 64

// oneWord matches the name of a function that is not part of an interface for others: a word that begins with a small letter.
var oneWord = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// privateOfPython matches the same in Python, where such a name begins with an underscore.
var privateOfPython = regexp.MustCompile(`(?m)^\s*(?:async )?def _([a-z][a-z0-9]*)\(`)

// functionsByWord returns, for each name of one word, where functions of that name are.
func functionsByWord(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, dir := range append([]string{"python"}, tops(t)...) {
		err := filepath.WalkDir(filepath.Join(root(t), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			place, _ := filepath.Rel(root(t), path)
			switch {
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				for _, decl := range f.Decls {
					if fn, ok := decl.(*ast.FuncDecl); ok && oneWord.MatchString(fn.Name.Name) {
						found[fn.Name.Name] = append(found[fn.Name.Name], place)
					}
				}
			case strings.HasSuffix(path, ".py"):
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				for _, m := range privateOfPython.FindAllSubmatch(text, -1) {
					found[string(m[1])] = append(found[string(m[1])], place)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	delete(found, "main")
	delete(found, "init")
	return found
}

func TestSharedVerbsTakeAnObject(t *testing.T) {
	found := functionsByWord(t)
	shared := 0
	for name, places := range found {
		if len(places) > mostAlike {
			shared += len(places)
		} else {
			delete(found, name)
		}
	}
	if shared > mostShared {
		for _, name := range slices.Sorted(maps.Keys(found)) {
			t.Logf("%d functions are called %s: %s", len(found[name]), name, strings.Join(found[name], " "))
		}
		t.Errorf("%d functions have a name of one word that more than %d share, and there were %d: say in the new one's name what it acts on", shared, mostAlike, mostShared)
	}
}
