// Whose settings count, and which files are ignored.

package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// write makes a folder with settings, and returns it.
func write(t *testing.T, text string, folder, file os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/config", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir+"/config", file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, folder); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFirstWhoSetsSomethingCounts(t *testing.T) {
	user := write(t, "layers=/user\n", 0o700, 0o600)
	machine := write(t, "  layers =  /machine \n", 0o755, 0o644)
	for _, c := range []struct {
		env, value, source string
		folders            []string
	}{
		{"/env", "/env", "JITCACHE_LAYERS", []string{user, machine}},
		{"", "/user", user + "/config", []string{user, machine}},
		{"", "/machine", machine + "/config", []string{"/none", machine}},
		{"", "", "", nil},
	} {
		s := Read(environment(map[string]string{"JITCACHE_LAYERS": c.env}), c.folders)
		if set, _ := s.Get("layers"); set.Value != c.value || set.Source != c.source || len(s.Problems) != 0 {
			t.Errorf("%q %q, %v; want %q %q", set.Value, set.Source, s.Problems, c.value, c.source)
		}
	}
}

//jitcache:control anyconfig
func TestSettingsThatOthersMayWriteAreIgnoredWithAProblem(t *testing.T) {
	for _, c := range []struct{ folder, file os.FileMode }{{0o755, 0o664}, {0o755, 0o646}, {0o775, 0o644}, {0o777 | os.ModeSticky, 0o644}} {
		dir := write(t, "layers = /evil\n", c.folder, c.file)
		s := Read(environment(nil), []string{dir})
		if set, ok := s.Get("layers"); ok || len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "others may write it") {
			t.Errorf("%v: %+v, %v", c, set, s.Problems)
		}
	}
	dir := write(t, "layers = /evil\n", 0o755, 0o644)
	if os.Chown(dir+"/config", 12345, 12345) == nil { // root
		s := Read(environment(nil), []string{dir})
		if _, ok := s.Get("layers"); ok || len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "belongs to user 12345") {
			t.Errorf("%v", s.Problems)
		}
	}
}

func TestWhatIsNoFileOfSettingsIsIgnoredAndStopsNobody(t *testing.T) {
	fifo, folder := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(fifo+"/config", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder+"/config", 0o700); err != nil {
		t.Fatal(err)
	}
	odd := write(t, "trust everybody\nlayers = /a\nlayers = /b\ncolour = red\n", 0o700, 0o600)
	s := Read(environment(nil), []string{fifo, folder, odd})
	if set, _ := s.Get("layers"); set.Value != "/a" {
		t.Errorf("%+v", set)
	}
	if len(s.Problems) != 4 {
		t.Errorf("problems %q", s.Problems)
	}
}

func TestHomeThatIsNoneIsNoProblem(t *testing.T) {
	for _, home := range []string{"/dev/null", "/does/not/exist"} {
		folders := Folders(environment(nil), home)
		if s, k := Read(environment(nil), folders), ReadKeys(environment(nil), folders, ""); len(s.Problems)+len(k.Problems) != 0 {
			t.Errorf("%s: %v %v", home, s.Problems, k.Problems)
		}
	}
}

func TestFoldersAreTheUsersAndTheMachines(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{
		{"/x", "/h", "/x/jitcache"}, {"", "/h", "/h/.config/jitcache"}, {"relative", "/h", "/h/.config/jitcache"}, {"", "", ""},
	} {
		want := []string{c.want, Machine}
		if c.want == "" {
			want = want[1:]
		}
		got := Folders(environment(map[string]string{"XDG_CONFIG_HOME": c.xdg}), c.home)
		if strings.Join(got, " ") != strings.Join(want, " ") || !filepath.IsAbs(got[0]) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// Whatever is in a line, the lines after it are read, and an ignored line is reported.
//
//jitcache:control nowithdrawal
func TestNoLineEndsAFile(t *testing.T) {
	p := fixed(1).Public()
	for _, size := range []int{1, 1<<12 - 1, 1 << 16, 1<<16 + 1, 1 << 19} {
		for name, line := range map[string]string{
			"setting": "namespace=" + strings.Repeat("x", size), "nonsense": strings.Repeat("x", size),
			"comment": "#" + strings.Repeat("x", size), "blanks": strings.Repeat(" ", size), "zeros": strings.Repeat("\x00", size),
		} {
			dir := write(t, line+"\nlayers = /after\n", 0o700, 0o600)
			s := Read(environment(nil), []string{dir})
			if set, _ := s.Get("layers"); set.Value != "/after" {
				t.Errorf("%s of %d: %d settings, %q", name, size, len(s.All), s.Problems)
			}
			os.WriteFile(KeysFile(dir), []byte(line+"\nwithdrawn "+p.String()+"\n"), 0o600)
			if k := ReadKeys(environment(map[string]string{"JITCACHE_KEYS": p.String()}), []string{dir}, ""); k.Trusts(p) {
				t.Errorf("%s of %d: a key that is withdrawn behind it is trusted", name, size)
			}
		}
	}
}

func TestFileThatIsTooLongIsNotReadInPart(t *testing.T) {
	for size, want := range map[int]int{most: 0, most + 1: 1, 2 * most: 1} {
		head := "layers = /a\n"
		dir := write(t, head+strings.Repeat("#", size-len(head)), 0o700, 0o600)
		s := Read(environment(nil), []string{dir})
		if _, ok := s.Get("layers"); ok != (want == 0) || len(s.Problems) != want {
			t.Errorf("%d bytes: %v, %q", size, ok, s.Problems)
		}
		if want == 1 && !strings.Contains(s.Problems[0], dir+"/config is ignored: it is larger") {
			t.Errorf("%q", s.Problems)
		}
	}
}

// FuzzSettings: each line is a setting, a problem, or a comment.
func FuzzSettings(f *testing.F) {
	f.Add("layers = /a\n# b\n\nnonsense\r\nremotes=x=y")
	f.Add(strings.Repeat("x", 1<<16) + "\nlayers = /a")
	f.Fuzz(func(t *testing.T, text string) {
		said := 0
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				said++
			}
		}
		s := &Settings{}
		s.parseSettings(text+"\nlayers = /last", "config")
		if n := len(s.All) + len(s.Problems); n != said+1 || s.All[len(s.All)-1].Value != "/last" {
			t.Errorf("%d lines: %+v", said+1, s)
		}
	})
}
