// Where the path of a place is marked in texts.

package record

import "testing"

var twoPlaces = []Place{{Name: "T", Path: "/tmp/ab"}, {Name: "T.2", Path: "/tmp/ab/cd"}, {Name: "B", Path: "/home/me"}, {Name: "L", Path: "/tmp/long/name"}}

//jitcache:control nobegin
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
		"/tmp/ab/tmp/long/name":      "\x01T\x01L",
		"/home/me/tmp/ab/x.o":        "\x01B\x01T/x.o",
		"foo/tmp/ab":                 "foo/tmp/ab", // relative paths
		"./tmp/ab -/tmp/ab ~/tmp/ab": "./tmp/ab -/tmp/ab ~/tmp/ab",
		"#!/tmp/ab/sh 2>/tmp/ab/err": "#!\x01T/sh 2>\x01T/err",
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

// A path that is relative to the folder to run in is marked where it stands alone.
func TestMarksOfRelativePaths(t *testing.T) {
	places := []Place{{Name: "T", Path: "/w/.1.tmp"}, {Name: "T" + Relative, Path: ".1.tmp"}, {Name: "U", Path: "/w/o/x"}, {Name: "U" + Relative, Path: "o/x"}}
	for text, want := range map[string]string{
		".1.tmp":                 "\x01T{relative",
		"-o.1.tmp":               "-o\x01T{relative",
		"-o ./.1.tmp":            "-o ./\x01T{relative",
		"--o=.1.tmp,/w/.1.tmp":   "--o=\x01T{relative,\x01T",
		"a.1.tmp -oa.1.tmp":      "a.1.tmp -oa.1.tmp",
		"v/.1.tmp .1.tmp2":       "v/.1.tmp .1.tmp2",
		"o/x/y foo/x -oo/x :o/x": "\x01U{relative/y foo/x -oo/x :\x01U{relative",
	} {
		got := Mark(text, places)
		if got != want {
			t.Errorf("%q is marked %q, want %q", text, got, want)
		}
		if back := Unmark(got, places); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}

func TestPathsOfListsComeBack(t *testing.T) {
	moved := []Place{{Name: "T", Path: "/tmp/zz"}, {Name: "T.2", Path: "/tmp/q"}, {Name: "B", Path: "/home/you"}, {Name: "L", Path: "/tmp/l"}}
	for path, want := range map[string]string{
		"/tmp/ab/x":             "/tmp/zz/x",
		"/tmp/ab":               "/tmp/zz",
		"/tmp/ab/cd/x":          "/tmp/q/x",
		"/tmp/ab/home/me/x.o":   "/tmp/zz/home/you/x.o",
		"/home/me/tmp/ab/c/x.o": "/home/you/tmp/zz/c/x.o",
		"/tmp/ab/tmp/long/name": "/tmp/zz/tmp/l",
		"/usr/tmp/ab":           "/usr/tmp/ab",
		"a/b":                   "a/b",
	} {
		if got := unplaced(placed(path, twoPlaces), moved); got != want {
			t.Errorf("%q is at %q elsewhere, want %q", path, got, want)
		}
	}
}
