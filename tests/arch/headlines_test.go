// Every file says in its first lines what it holds.

package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goHeadline returns what a Go file says of itself: the comment above the package clause. In a file with one declaration, it may be
// that declaration's.
func goHeadline(t *testing.T, path string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	end := file.Package
	if len(file.Decls) == 1 {
		end = file.Decls[0].Pos()
	}
	for _, c := range file.Comments {
		if text := strings.TrimSpace(c.Text()); c.Pos() < end && text != "" {
			return text
		}
	}
	return ""
}

// cHeadline matches the comment at the top of a C file, and its beginning if that is a file's name.
var cHeadline = regexp.MustCompile(`^(?:/\*|//) ?(?:([\w.]+\.[ch]): )?\w`)

// Somebody who opens a file learns from its first lines what is in it.
func TestEveryFileSaysWhatItHolds(t *testing.T) {
	top := root(t)
	files := 0
	for _, dir := range append([]string{"include", "tests"}, tops(t)...) {
		filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			switch filepath.Ext(path) {
			case ".go":
				files++
				if goHeadline(t, path) == "" {
					t.Errorf("%s does not begin with a comment that says what it holds", path)
				}
			case ".c", ".h":
				files++
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				m := cHeadline.FindSubmatch(text)
				if m == nil {
					t.Errorf("%s does not begin with a comment that says what it holds", path)
				} else if name := string(m[1]); name != "" && name != filepath.Base(path) {
					t.Errorf("%s calls itself %s", path, name)
				}
			}
			return nil
		})
	}
	if files < 650 {
		t.Errorf("%d files were found", files)
	}
}
