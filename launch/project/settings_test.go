// What a project's file may say, and what not.

package project

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// write writes a file, and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, Name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettingsBecomeTheValuesOfTheirVariables(t *testing.T) {
	path := write(t, `
base-dir = "."           # the folder of this file
placeholders = { TMP = "/tmp/*", BUILD = "build/*" }
map = "-ffile-prefix-map"
withhold = ["CI_*", "BUILD_NUMBER"]
keep = ["gcc", "*-g++"]
hermetic = 1700000000
log = "miss"
log-file = "jitcache.log"
`)
	folder := filepath.Dir(path)
	settings, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range settings {
		got[s.Variable] = s.Value
	}
	want := map[string]string{
		"JITCACHE_BASE_DIR": folder, "JITCACHE_PLACEHOLDER": "BUILD=" + folder + "/build/*:TMP=/tmp/*", "JITCACHE_MAP": "-ffile-prefix-map",
		"JITCACHE_WITHHOLD": "CI_*:BUILD_NUMBER", "JITCACHE_KEEP": "gcc:*-g++", "JITCACHE_HERMETIC": "1700000000", "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": folder + "/jitcache.log",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(settings) != len(Names) {
		t.Error("this test does not have all settings")
	}
}

//jitcache:control projecttrust remotes layers keys signing-key-file shared trust dir library plugin
func TestNothingThatLoosensTrustIsASetting(t *testing.T) {
	for name, text := range map[string]string{
		"remotes": `remotes = "redis://there|trust=unsigned"`, "layers": `layers = "/there"`, "keys": `keys = ["k"]`,
		"signing-key-file": `signing-key-file = "k"`, "shared": `shared = true`, "trust": `trust = [1000]`, "dir": `dir = "cache"`,
		"library": `library = "lib.so"`, "plugin": `map = "-fplugin"`,
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := Read(write(t, "log = \"miss\"\n"+text))
			if err == nil || settings != nil {
				t.Fatalf("%v, %v", settings, err)
			}
			if decided := "is decided in the environment"; name != "library" && name != "plugin" && !strings.Contains(err.Error(), decided) {
				t.Error(err)
			}
		})
	}
}

//jitcache:control projectlog above absolute link folder-link
func TestLogOfAProjectIsAFileInItsFolder(t *testing.T) {
	elsewhere := t.TempDir()
	for name, value := range map[string]string{
		"above": "../log", "absolute": elsewhere + "/log", "link": "link", "folder-link": "there/log", "no-folder": "nosuch/log",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, `log-file = "`+value+`"`)
			os.Symlink(elsewhere+"/log", filepath.Dir(path)+"/link")
			os.Symlink(elsewhere, filepath.Dir(path)+"/there")
			if settings, err := Read(path); err == nil && name != "no-folder" || settings != nil && name != "no-folder" {
				t.Errorf("%v", settings)
			}
		})
	}
}

//jitcache:control anyproject writable
func TestFileThatOthersMayHaveWrittenDoesNotCount(t *testing.T) {
	t.Run("writable", func(t *testing.T) {
		path := write(t, `log = "miss"`)
		os.Chmod(path, 0o666)
		if settings, err := Read(path); err == nil {
			t.Error(settings)
		}
	})
	t.Run("another user's", func(t *testing.T) {
		path := write(t, `log = "miss"`)
		if os.Chown(path, 12345, -1) != nil {
			return // which takes root
		}
		if settings, err := Read(path); err == nil {
			t.Error(settings)
		}
	})
}

func TestWhatIsWrongIsSaidAndNothingOfTheFileCounts(t *testing.T) {
	for _, text := range []string{
		"base-dir", "base-dir = 1", `base-dir = ""`, `base-dir = "/"`, `base-dir = "a:b"`, `placeholders = "TMP"`, `placeholders = { TMP = 1 }`,
		`placeholders = { "A/B" = "/tmp/*" }`, `placeholders = { "A:B" = "/tmp/*" }`, `placeholders = { A = "/tmp/[" }`, `withhold = "CI"`, `withhold = [1]`,
		`withhold = [""]`, `withhold = ["+"]`, `withhold = ["A:B"]`, `keep = "gcc"`, `keep = []`, `keep = ["[a"]`, `keep = ["bin/gcc"]`, `log = "all"`, `hermetic = "1"`, `hermetic = 1`, `hermetic = -5`, `nonsense = 1`, "[run]\nlog = \"miss\"", `log-file = "%p"`, "log = \"miss\"\nlog = \"miss\"",
		"#" + strings.Repeat("x", most),
	} {
		if settings, err := Read(write(t, text)); err == nil || settings != nil {
			t.Errorf("%.60s: %v", text, settings)
		}
	}
}

func TestNearestFileCounts(t *testing.T) {
	path := write(t, "")
	top := filepath.Dir(path)
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if found := Find(below); found != path {
		t.Error(found)
	}
	nearer := filepath.Join(top, "a", Name)
	if err := os.WriteFile(nearer, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if found := Find(below); found != nearer {
		t.Error(found)
	}
	if found := Find(top); found != path {
		t.Error(found)
	}
}
