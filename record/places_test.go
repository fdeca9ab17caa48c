package record

import "testing"

var twoPlaces = []Place{{"T", "/tmp/ab"}, {"T.2", "/tmp/ab/cd"}, {"B", "/home/me"}}

func TestMarksAreWhereAPathIs(t *testing.T) {
	for text, want := range map[string]string{
		"/tmp/ab":                    "\x01T",
		"/tmp/ab/x.c":                "\x01T/x.c",
		"/tmp/ab/cd/x.c":             "\x01T.2/x.c",
		"-I/tmp/ab":                  "-I\x01T",
		"-Wl,-rpath,/tmp/ab:/tmp/ab": "-Wl,-rpath,\x01T:\x01T",
		"--x=/tmp/ab/y":              "--x=\x01T/y",
		"/tmp/abc":                   "/tmp/abc",
		"/other/tmp/ab":              "/other/tmp/ab",
		"/tmp/ab/q/tmp/ab/x.o":       "\x01T/q\x01T/x.o",
		"/tmp/ab/tmp/ab/x.o":         "\x01T\x01T/x.o",
		"/home/me/tmp/ab/x.o":        "\x01B\x01T/x.o",
		"/other /tmp/ab /o/tmp/ab":   "/other \x01T /o/tmp/ab",
	} {
		got := Mark(text, twoPlaces)
		if got != want {
			t.Errorf("%q is marked %q, want %q", text, got, want)
		}
		if back := Unmark(got, twoPlaces); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}

func TestPathsOfListsComeBack(t *testing.T) {
	moved := []Place{{"T", "/tmp/zz"}, {"T.2", "/tmp/q"}, {"B", "/home/you"}}
	for path, want := range map[string]string{
		"/tmp/ab/x":             "/tmp/zz/x",
		"/tmp/ab":               "/tmp/zz",
		"/tmp/ab/cd/x":          "/tmp/q/x",
		"/tmp/ab/home/me/x.o":   "/tmp/zz/home/you/x.o",
		"/home/me/tmp/ab/c/x.o": "/home/you/tmp/zz/c/x.o",
		"/usr/tmp/ab":           "/usr/tmp/ab",
		"a/b":                   "a/b",
	} {
		if got := unplaced(placed(path, twoPlaces), moved); got != want {
			t.Errorf("%q is at %q elsewhere, want %q", path, got, want)
		}
	}
}
