package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// known returns the controls in controls.txt.
func known(t *testing.T) (names []string) {
	t.Helper()
	for line := range strings.Lines(read(t, "core/control/controls.txt")) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			names = append(names, f[0])
		}
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(sorted) == 0 || len(slices.Compact(sorted)) != len(names) {
		t.Fatal("controls.txt has no control, or one twice")
	}
	return names
}

// found returns what a pattern finds in a text.
func found(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// files calls fn for every file below a folder with a certain ending.
func files(t *testing.T, dir, ending string, fn func(name, text string)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ending) {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(top, path)
		fn(filepath.ToSlash(rel), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each control must be obeyed by code, and run by a test.
func TestControlsAreObeyedAndRun(t *testing.T) {
	var obeyed []string
	for _, dir := range tops(t) {
		files(t, dir, "/controls_off.go", func(_, text string) {
			obeyed = append(obeyed, found(`control\.Is\("(\w+)"\)`, text)...)
		})
	}
	tests := ""
	files(t, "tests", ".py", func(_, text string) { tests += text })
	for _, name := range known(t) {
		if !slices.Contains(obeyed, name) {
			t.Errorf("no code obeys control %s", name)
		}
		if !regexp.MustCompile(`"([\w,]+,)?` + name + `(,[\w,]+)?"`).MatchString(tests) {
			t.Errorf("no test runs control %s", name)
		}
	}
	for _, name := range obeyed {
		if !slices.Contains(known(t), name) {
			t.Errorf("control %s is not in controls.txt", name)
		}
	}
}

// declared returns the names that a file declares, and which of them are constants that are
// true.
func declared(t *testing.T, name string) (all, truths []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), name), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, d.Name.Name+"()")
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, n := range s.Names {
					all = append(all, n.Name)
					if d.Tok != token.CONST || i >= len(s.Values) {
						continue
					}
					if v, ok := s.Values[i].(*ast.Ident); ok && v.Name == "true" {
						truths = append(truths, n.Name)
					}
				}
			}
		}
	}
	return all, truths
}

// In all other builds a mechanism is a constant: it costs nothing, and cannot be taken out.
func TestMechanismsAreConstantsInAllOtherBuilds(t *testing.T) {
	rooms := 0
	for _, dir := range tops(t) {
		files(t, dir, "/controls_off.go", func(off, _ string) {
			rooms++
			on := strings.Replace(off, "_off", "", 1)
			here, truths := declared(t, on)
			there, _ := declared(t, off)
			for _, name := range here {
				if !slices.Contains(there, name) {
					t.Errorf("%s has %s, and %s has not", on, name, off)
				}
				if !strings.HasSuffix(name, "()") && !slices.Contains(truths, name) {
					t.Errorf("%s: %s is no constant, or not true", on, name)
				}
			}
		})
	}
	if rooms == 0 {
		t.Error("no room has controls")
	}
}

func TestOnlyControlFilesAreBuiltForControls(t *testing.T) {
	want := map[string]string{"controls.go": "!control", "controls_off.go": "control", "core/control/control.go": "control"}
	for _, dir := range tops(t) {
		files(t, dir, ".go", func(name, text string) {
			tag := strings.Join(found(`(?m)^//go:build (.*control.*)$`, text), "")
			if tag != want[filepath.Base(name)] && tag != want[name] {
				t.Errorf("%s is built for %q", name, tag)
			}
			if filepath.Base(name) != "controls_off.go" && strings.Contains(text, `"jitcache/core/control"`) {
				t.Errorf("%s uses core/control", name)
			}
		})
	}
}
