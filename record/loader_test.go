// What the loader's cache counts for.

package record

import (
	"os"
	"slices"
	"strings"
	"testing"
)

//jitcache:control noprinted printed read_by_a_script
func TestLoadersCacheCountsWholeForWhoReadsItHimself(t *testing.T) {
	if _, err := os.Stat(loaderCache); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, script string
		flag         FileFlags
	}{
		{"loader", "cat file", Loader},
		{"printed", "cat file; for l in /sbin/ldconfig.real /sbin/ldconfig; do [ -x $l ] && exec $l -p; done", 0},
		{"read by a script", "cat file /etc/ld.so.cache", 0},
		{"read by a shell", "read line < /etc/ld.so.cache; :", 0},
		{"read by python", pythonItself(t) + ` -c 'open("/etc/ld.so.cache", "rb")'`, 0},
		{"loader again", pythonItself(t) + ` -c 'import ctypes; ctypes.CDLL("libm.so.6")'`, Loader},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("file", "1\n")
			for _, f := range w.taken(c.script).Files {
				if f.Path == loaderCache && f.Flags&Loader != c.flag {
					t.Errorf("flags %b", f.Flags)
				}
			}
		})
	}
}

//jitcache:control nolanguages bash
func TestLanguagesCountForWhoMayOrderNamesByThem(t *testing.T) {
	python := pythonItself(t)
	for _, c := range []struct {
		name   string
		words  []string
		counts bool
	}{
		{"bash", []string{"bash", "-c", "echo *"}, true},
		{"python", []string{python, "-c", "pass"}, false},
		{"compiler", []string{"gcc", "-c", "a.c", "-o", "a.o"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "int a;\n")
			w.env = append(w.env, "LC_ALL=xx_YY.UTF-8")
			l, err := w.run(c.words...)
			if err != nil {
				t.Fatal(err)
			}
			counts := slices.ContainsFunc(l.Files, func(f File) bool { return strings.HasPrefix(f.Path, "/usr/lib/locale/") }) ||
				slices.ContainsFunc(l.Folders, func(f Folder) bool {
					return f.Path == "/usr/lib/locale" && slices.Contains(f.Absent, "xx_YY.UTF-8")
				})
			if counts != c.counts {
				t.Errorf("counts: %v", counts)
			}
		})
	}
}
