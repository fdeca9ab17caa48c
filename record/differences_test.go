// Each difference between two worlds is noticed.

package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/stamp"
)

// settle waits until what was just written is not fresh any more.
func settle() { time.Sleep(time.Duration(stamp.FineTick) + 20*time.Millisecond) }

// taken runs a shell script and returns its list.
func (w *world) taken(script string) *List {
	w.t.Helper()
	return w.takenOf("/bin/sh", "-c", script)
}

// takenOf runs a command and returns its list, which nothing has changed yet.
func (w *world) takenOf(words ...string) *List {
	w.t.Helper()
	l, err := w.run(words...)
	if err != nil {
		w.t.Fatal(err)
	}
	if state, why := l.Check(w.surroundings()); state == Changed {
		w.t.Fatalf("%s: before any change: %s", words, why)
	}
	return l
}

// compare compares a list with the world: has it changed, and is that what has?
func (w *world) compare(l *List, changed bool, what string) {
	w.t.Helper()
	state, why := l.Check(w.surroundings())
	if (state == Changed) != changed || changed && !strings.Contains(why, what) {
		w.t.Errorf("state %d, %s", state, why)
	}
}

//jitcache:control noabsent absent_name
//jitcache:control nolooked content_that_is_looked_at
//jitcache:control nolinktexts text_of_a_link
//jitcache:control nolistings names_in_a_folder
//jitcache:control noenvironment variable
//jitcache:control nomodes permissions
//jitcache:control nofolder folder_that_is_asked_for
//jitcache:control nodates time_that_is_looked_at
func TestEachDifferenceIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(w *world)
		why          string
	}{
		{"content that is read", "cat file", func(w *world) { w.put("file", "2\n") }, "file: modification time changed"},
		{"size", "cat file", func(w *world) { w.put("file", "22\n") }, "file: modification time changed"},
		{"content that is looked at", "[ -e file ]", func(w *world) { w.put("file", "22\n") }, "file: modification time changed"},
		{"time that is looked at", "[ file -nt dir ]", func(w *world) { os.Chtimes(w.dir+"/file", time.Time{}, time.Unix(1, 0)) }, "file: modification time changed"},
		{"permissions", "[ -x file ]", func(w *world) { os.Chmod(w.dir+"/file", 0o755) }, "file: permissions 755, were 644"},
		{"absent name", "[ -e none ]", func(w *world) { w.put("none", "") }, "none: exists now"},
		{"absent name behind an absent folder", "[ -e no/such/file ]", func(w *world) { w.put("no/such/file", "") }, "no: exists now"},
		{"what a link that led nowhere leads to", "cat dangling || :", func(w *world) { w.put("nowhere", "") }, "dangling: can be read now, was: no such file or directory"},
		{"what a folder's link that led nowhere leads to", "cat hollow/file || :", func(w *world) { w.put("away/file", "") }, "hollow: can be read now, was: no such file or directory"},
		{"a link that led nowhere leads around", "cat dangling || :", func(w *world) { os.Symlink("dangling", w.dir+"/nowhere") }, "dangling: too many levels of symbolic links now, was: no such file or directory"},
		{"text of a link", "readlink link", func(w *world) { os.Remove(w.dir + "/link"); os.Symlink("dir/../file", w.dir+"/link") }, "link: points to another target"},
		{"target of a link", "cat link", func(w *world) { os.Remove(w.dir + "/link"); os.Symlink("other", w.dir+"/link") }, "link: modification time changed"},
		{"names in a folder", "ls dir", func(w *world) { w.put("dir/new", "") }, "dir: entries were added or removed"},
		{"file that is a folder now", "cat file", func(w *world) { os.Remove(w.dir + "/file"); os.Mkdir(w.dir+"/file", 0o755) }, "file: no longer"},
		{"folder that is a file now", "[ -d dir ]", func(w *world) { os.RemoveAll(w.dir + "/dir"); w.put("dir", "") }, "dir: no longer"},
		{"variable", "echo $OWN", func(w *world) { w.env = append(w.env, "OWN=2") }, "environment: OWN is set now"},
		{"folder that is entered and asked for", "cd dir; pwd -P", func(w *world) { os.Rename(w.dir+"/dir", w.dir+"/was"); os.Symlink("was", w.dir+"/dir") }, "dir: became a symbolic link"},
		{"folder that is asked for", "/bin/pwd", func(w *world) { w.dir = filepath.Dir(w.dir) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("file", "1\n")
			w.put("other", "3\n")
			w.put("dir/a", "")
			os.Symlink("nowhere", w.dir+"/dangling")
			os.Symlink("away", w.dir+"/hollow")
			os.Symlink("file", w.dir+"/link")
			settle()
			l := w.taken(c.script + "; :")
			c.change(w)
			state, why := l.Check(w.surroundings())
			if state != Changed || !strings.Contains(why, c.why) {
				t.Errorf("state %d, %q, want %q", state, why, c.why)
			}
		})
	}
}

//jitcache:control nofresh
func TestFreshFileIsReadAgain(t *testing.T) {
	w := newWorld(t)
	path := w.put("file", "1\n")
	settle()
	var s status
	s.Read = now()
	if errno := s.At(ended(path), 0); errno != 0 {
		t.Fatal(errno)
	}
	// As if it had been changed within a tick after it was looked at.
	for _, age := range []int64{1, int64(time.Hour)} {
		f := File{Path: path, Mode: s.Mode(), Stamp: s.Stamp, Digest: key.Sum([]byte("2\n"))}
		f.Stamp.Read = max(f.Stamp.Mtime, f.Stamp.Ctime) + age
		l := &List{Files: []File{f}}
		if state, _ := l.Check(w.surroundings()); (state == Changed) != (age == 1) {
			t.Errorf("%d ns after its change: state %d", age, state)
		}
	}
}

//jitcache:control notwins
func TestTwinsAreToEachOtherWhatTheyWere(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "#include \"one.h\"\n#include \"two.h\"\nint twice = N;\n")
			w.put("one.h", "#pragma once\n#ifdef N\n#undef N\n#define N 2\n#else\n#define N 1\n#endif\n")
			os.Link(w.dir+"/one.h", w.dir+"/two.h")
			os.Chtimes(w.dir+"/one.h", time.Time{}, time.Unix(1e9, 0))
			settle()
			l, err := w.run(compiler, "-c", "a.c", "-o", "a.o")
			if err != nil {
				t.Skip(err)
			}
			if state, why := l.Check(w.surroundings()); state == Changed {
				t.Fatal(why)
			}
			text, _ := os.ReadFile(w.dir + "/one.h")
			os.Remove(w.dir + "/two.h")
			w.put("two.h", string(text))
			if state, why := l.Check(w.surroundings()); state != Changed || !strings.Contains(why, "an identical file") {
				t.Errorf("state %d, %s", state, why)
			}
		})
	}
}

//jitcache:control noprocessor
func TestProcessorCountsWhereItIsAskedFor(t *testing.T) {
	w := newWorld(t)
	w.put("a.c", "int a;\n")
	w.put("flags", "-march=\"nat\\ive\"\n")
	for words, counts := range map[string]bool{
		"gcc -c a.c -o a.o": false, "gcc -march=native -c a.c -o a.o": true, "gcc @flags -c a.c -o a.o": true,
		"sh -c :": true,
	} {
		l, err := w.run(strings.Fields(words)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.World.CPU != (key.Digest{}); got != counts {
			t.Errorf("%s: counts: %v", words, got)
		}
		os.Remove(w.dir + "/a.o")
	}
}

func TestFileThatMayNotBeReadIsNoHit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	w := newWorld(t)
	path := w.put("file", "1\n")
	os.Chmod(path, 0o600)
	settle()
	l := w.taken("cat file; :")
	w.openWay()
	why := asNobody(func() string {
		_, why := l.Check(w.surroundings())
		return why
	})
	if !strings.Contains(why, "file: ") {
		t.Errorf("another user: %q", why)
	}
}

func TestVariableThatIsThereTwiceCountsWhole(t *testing.T) {
	for _, env := range [][]string{{"A=1", "A=2"}, {"A=2", "A=1"}, {"A=2"}} {
		if difference(AllVariables.variables([]string{"A=1"}, nil, nil), AllVariables.variables(env, nil, nil)) == "" {
			t.Errorf("%v is like A=1", env)
		}
	}
}

func TestNamesThatPassAreWhole(t *testing.T) {
	for path, passes := range map[string]bool{
		"/proc/meminfo": true, "/usr/share/locale/de/LC_MESSAGES/gcc.mo": true,
		"/usr/share/locale/h.h": false, "/sys/fs/cgroup/../../../home/h.h": false, "/proc/meminfo/x": false,
	} {
		if lessThanContent(path) != passes {
			t.Errorf("%s: %v", path, !passes)
		}
	}
}
