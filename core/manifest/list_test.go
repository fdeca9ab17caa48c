package manifest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"jitcache/core/key"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// backdate gives a file time stamps that prove something, as far as that is
// possible: the time of the change of its inode cannot be set.
func backdate(t *testing.T, path string) {
	t.Helper()
	when := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) File {
	t.Helper()
	_, f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// trusted makes the stamps of a list count: as if the files had been read long
// after they were written.
func trusted(l *List) *List {
	for i := range l.Files {
		l.Files[i].Stamp.Read = time.Now().Add(time.Hour).UnixNano()
	}
	for i := range l.Folders {
		l.Folders[i].Stamp.Read = time.Now().Add(time.Hour).UnixNano()
	}
	return l
}

// tree makes a folder and the list of what is in it.
func tree(t *testing.T) (dir string, l *List) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"a", "b", "sub/c"} {
		write(t, filepath.Join(dir, name), "content of "+name)
		backdate(t, filepath.Join(dir, name))
	}
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l = &List{
		Files:   []File{read(t, dir+"/a"), read(t, dir+"/b"), read(t, dir+"/link/c")},
		Absent:  []string{dir + "/absent", dir + "/nowhere/absent", dir + "/a/below-a-file"},
		Folders: []Folder{list(t, dir+"/sub")},
		Aliases: []Alias{{dir + "/link", dir + "/sub"}},
		Payload: []byte("payload"),
	}
	return dir, l
}

func list(t *testing.T, dir string) Folder {
	t.Helper()
	_, digest, stamp, err := key.ReadNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Folder{dir, stamp, digest}
}

func TestEveryChangeIsNoticed(t *testing.T) {
	put := func(t *testing.T, path, content string) { // same size, time stamp put back
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, content)
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, dir string){
		"edited":                      func(t *testing.T, dir string) { write(t, dir+"/a", "longer than it was") },
		"edited to the same size":     func(t *testing.T, dir string) { write(t, dir+"/a", "CONTENT OF A") },
		"edited, time stamp put back": func(t *testing.T, dir string) { put(t, dir+"/a", "CONTENT OF A") },
		"removed":                     func(t *testing.T, dir string) { os.Remove(dir + "/b") },
		"now a folder":                func(t *testing.T, dir string) { os.Remove(dir + "/b"); os.Mkdir(dir+"/b", 0o700) },
		"now a link to nothing":       func(t *testing.T, dir string) { os.Remove(dir + "/b"); os.Symlink("none", dir+"/b") },
		"replaced by another":         func(t *testing.T, dir string) { write(t, dir+"/n", "CONTENT OF B"); os.Rename(dir+"/n", dir+"/b") },
		"one file under two names": func(t *testing.T, dir string) {
			write(t, dir+"/a", "content of b")
			os.Remove(dir + "/b")
			os.Link(dir+"/a", dir+"/b")
		},
		"absent name appears":               func(t *testing.T, dir string) { write(t, dir+"/absent", "") },
		"absent name appears as a link":     func(t *testing.T, dir string) { os.Symlink("a", dir+"/absent") },
		"absent name appears in new folder": func(t *testing.T, dir string) { write(t, dir+"/nowhere/absent", "") },
		"another name in the folder":        func(t *testing.T, dir string) { write(t, dir+"/sub/new", "") },
		"a name gone from the folder":       func(t *testing.T, dir string) { os.Remove(dir + "/sub/c") },
		"aliases part": func(t *testing.T, dir string) {
			os.Mkdir(dir+"/other", 0o700)
			os.Link(dir+"/sub/c", dir+"/other/c")
			os.Remove(dir + "/link")
			os.Symlink("other", dir+"/link")
		},
	} {
		for _, age := range []string{"trusted", "fresh"} {
			t.Run(name+", "+age, func(t *testing.T) {
				dir, l := tree(t)
				if age == "trusted" {
					trusted(l)
				}
				if state, why := l.Check(); state == Changed {
					t.Fatalf("unchanged, but: %s", why)
				}
				change(t, dir)
				if state, why := l.Check(); state != Changed || why == "" {
					t.Errorf("state %d, why %q", state, why)
				}
			})
		}
	}
}

func TestFileOfTheSameContentIsUnchangedAndRestamped(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"touched":          func(t *testing.T, dir string) { backdate(t, dir+"/a") },
		"copied over":      func(t *testing.T, dir string) { write(t, dir+"/n", "content of a"); os.Rename(dir+"/n", dir+"/a") },
		"written again":    func(t *testing.T, dir string) { write(t, dir+"/a", "content of a") },
		"through a link":   func(t *testing.T, dir string) { os.Rename(dir+"/a", dir+"/real"); os.Symlink("real", dir+"/a") },
		"folder and names": func(t *testing.T, dir string) { write(t, dir+"/sub/x", ""); os.Remove(dir + "/sub/x") },
	} {
		t.Run(name, func(t *testing.T) {
			dir, l := tree(t)
			trusted(l)
			time.Sleep(time.Millisecond)
			change(t, dir)
			if state, why := l.Check(); state != Restamped {
				t.Fatalf("state %d, %s; want restamped", state, why)
			}
			if state, why := trusted(l).Check(); state != Unchanged {
				t.Errorf("state %d, %s after the stamps were taken over", state, why)
			}
		})
	}
}

// Two equal files that become one, or one that becomes two, have the content
// they had; #pragma once sees the difference.
func TestIdentityOfEqualFilesCounts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a", "same")
	write(t, dir+"/b", "same")
	l := trusted(&List{Files: []File{read(t, dir+"/a"), read(t, dir+"/b")}})
	os.Remove(dir + "/b")
	os.Link(dir+"/a", dir+"/b")
	if state, _ := l.Check(); state != Changed {
		t.Errorf("state %d after two files became one", state)
	}
	l = trusted(&List{Files: []File{read(t, dir+"/a"), read(t, dir+"/b")}})
	os.Remove(dir + "/b")
	write(t, dir+"/b", "same")
	if state, _ := l.Check(); state != Changed {
		t.Errorf("state %d after one file became two", state)
	}
}

func TestFolderInPlaceOfAnAbsentFileIsNoFile(t *testing.T) {
	dir, l := tree(t)
	os.MkdirAll(dir+"/absent/absent", 0o700)
	if state, why := trusted(l).Check(); state == Changed {
		t.Error(why)
	}
}

// An edit within one tick of the file system's clock leaves size and time
// stamps as they were; here the stamps are made equal by hand.
func TestFreshFileIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "content")
	l := &List{Files: []File{read(t, path)}}
	write(t, path, "CONTENT")
	l.Files[0].Stamp = read(t, path).Stamp
	l.Files[0].Stamp.Read = l.Files[0].Stamp.Mtime
	if state, _ := l.Check(); state != Changed {
		t.Errorf("state %d", state)
	}
}

func TestChangedListKeepsItsStamps(t *testing.T) {
	dir, l := tree(t)
	trusted(l)
	before := string(l.Append(nil))
	backdate(t, dir+"/a")
	write(t, dir+"/b", "CONTENT OF B")
	if state, _ := l.Check(); state != Changed || string(l.Append(nil)) != before {
		t.Errorf("state %d, or the list has changed", state)
	}
}

func TestInputsAreAbsoluteAndNoticeWhatTheListNotices(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "inc/a", "content")
	l := trusted(&List{Files: []File{read(t, "inc/a")}, Absent: []string{"b"}, Folders: []Folder{list(t, "inc")}})
	ins, err := l.Inputs()
	if err != nil || len(ins) != 3 {
		t.Fatal(ins, err)
	}
	t.Chdir("/")
	for _, in := range ins {
		if why, changed := in.Changed(); changed || !filepath.IsAbs(in.Path) {
			t.Errorf("%s: %s", in.Path, why)
		}
	}
	write(t, dir+"/inc/a", "CONTENT")
	write(t, dir+"/inc/new", "")
	write(t, dir+"/b", "")
	for _, in := range ins {
		if _, changed := in.Changed(); !changed {
			t.Errorf("%s: the change was not noticed", in.Path)
		}
	}
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Read(dir); err == nil {
		t.Error("a folder was read")
	}
	if _, _, err := Read(dir + "/none"); !key.IsAbsent(err) {
		t.Errorf("missing file: %v", err)
	}
}

func BenchmarkCheck(b *testing.B) {
	dir, l := b.TempDir(), &List{}
	for i := range 444 {
		path := filepath.Join(dir, "some", "folders", "below", string(rune('a'+i%26)), "header"+string(rune('a'+i/26)))
		os.MkdirAll(filepath.Dir(path), 0o700)
		os.WriteFile(path, []byte("x"), 0o600)
		_, f, err := Read(path)
		if err != nil {
			b.Fatal(err)
		}
		l.Files = append(l.Files, f)
		if i < 127 {
			l.Absent = append(l.Absent, path+"-not")
		}
	}
	trusted(l)
	b.ReportAllocs()
	for b.Loop() {
		if state, why := l.Check(); state != Unchanged {
			b.Fatal(why)
		}
	}
}
