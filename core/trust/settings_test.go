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
