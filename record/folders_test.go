// It counts which folders, and which empty files, are one.

package record

import (
	"os"
	"testing"
	"time"
)

// Compilers leave out a folder of headers that is another one, and look for nothing in it. A shell, and a compiler that
// writes where it was, believe PWD if it is the folder that they are in. A script compares what it is told to.
//
//jitcache:control noonefolder include quoted behind variable clang before_clang place_of_the_system PWD shell compared_by_a_shell compared_by_python
func TestWhichFoldersAreOneCounts(t *testing.T) {
	python := realPython(t)
	for name, c := range map[string]struct {
		words  []string
		counts bool
	}{
		"include":             {[]string{"gcc", "-Icur", "-isystem", "sys", "-c", "a.c"}, true},
		"quoted":              {[]string{"gcc", "-iquote", "cur", "-iquote", "sys", "-c", "q.c"}, true},
		"behind":              {[]string{"gcc", "-idirafter", "sys", "-idirafter", "cur", "-c", "a.c"}, true},
		"variable":            {[]string{"env", "CPATH=cur:sys", "gcc", "-c", "a.c"}, true},
		"clang":               {[]string{"clang", "-Icur", "-isystem", "sys", "-c", "a.c"}, true},
		"before clang":        {[]string{"clang", "-isystem", "cur", "-isystem", "sys", "-c", "a.c"}, true},
		"place of the system": {[]string{"gcc", "-Ilink", "-include", "stdio.h", "-c", "b.c"}, true},
		"PWD":                 {[]string{"env", "PWD=PLACE/cur", "gcc", "-g", "-c", "../b.c"}, true},
		"shell":               {[]string{"env", "PWD=PLACE/cur", "sh", "-c", "pwd"}, true},
		"compared by a shell": {[]string{"bash", "-c", "[ cur -ef sys ]; [ link -ef /usr/include ]"}, true},
		"compared by python":  {[]string{python, "-I", "-S", "-c", "import os; os.path.samefile('cur', 'sys'); os.stat('link').st_ino"}, true},
		"a folder alone":      {[]string{"gcc", "-Icur", "-c", "b.c"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("sys/k.h", "#define K 1\n")
			w.put("v2/k.h", "#define K 1\n") // so nothing but the folder differs
			w.put("sys/here", "")
			w.put("a.c", "#include <k.h>\nint k = K;\n")
			w.put("q.c", "#include \"k.h\"\nint k = K;\n")
			w.put("b.c", "int b;\n")
			os.Symlink("sys", w.dir+"/cur")
			os.Symlink("/usr/include", w.dir+"/link")
			w.put("include/other.h", "")
			top := w.dir
			words := append([]string{}, c.words...)
			if name == "PWD" || name == "shell" {
				words[1] = "PWD=" + top + "/cur"
				w.dir += "/sys"
			}
			l := w.takenOf(words...)
			again, err := Parse(l.Append(nil))
			if err != nil || !again.Equal(l) {
				t.Fatal(err)
			}
			os.Remove(top + "/cur")
			os.Symlink("v2", top+"/cur")
			if name == "place of the system" {
				os.Remove(top + "/link")
				os.Symlink("include", top+"/link")
			}
			w.compare(again, c.counts, "the same folder as another")
			os.Remove(top + "/cur")
			os.Remove(top + "/link")
			os.Symlink("sys", top+"/cur")
			os.Symlink("/usr/include", top+"/link")
			w.compare(again, false, "")
		})
	}
}

// A checkout that is made anew has other inodes, and its folders are one as before. From then on those count.
func TestFoldersThatAreMadeAnewAreOneAsBefore(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "#include <k.h>\nint k = K;\n")
	w.put("v2/k.h", "#define K 2\n")
	w.put("sys/k.h", "#define K 1\n")
	os.Symlink("sys", w.dir+"/cur")
	l := w.takenOf("gcc", "-Icur", "-isystem", "sys", "-c", "a.c")
	if err := os.Rename(w.dir+"/sys", w.dir+"/old"); err != nil {
		t.Fatal(err)
	}
	w.put("sys/k.h", "#define K 1\n")
	w.compare(l, false, "")
	w.compare(l, false, "")
	os.Remove(w.dir + "/cur")
	os.Symlink("old", w.dir+"/cur")
	w.compare(l, true, "the same folder as another")
}

//jitcache:control notwins
func TestWhichEmptyFilesAreOneCounts(t *testing.T) {
	w := newWorld(t)
	w.put("one", "")
	os.Link(w.dir+"/one", w.dir+"/two")
	l := w.takenOf("bash", "-c", "[ one -ef two ]")
	os.Remove(w.dir + "/two")
	w.put("two", "")
	os.Chtimes(w.dir+"/two", time.Time{}, fileTime(t, w.dir+"/one"))
	w.compare(l, true, "an identical file")
}

func fileTime(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
