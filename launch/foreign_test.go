// What a result of another machine may do here.

package launch

import (
	"math/rand/v2"
	"os"
	"regexp"
	"testing"
)

//jitcache:control anyplace
func TestResultOfAnotherMachineIsPutOnlyWhereTheCommandPoints(t *testing.T) {
	dir := t.TempDir()
	other, home := t.TempDir(), t.TempDir()
	os.Mkdir(dir+"/build", 0o755)
	os.Symlink(home, dir+"/out")
	file := func(path string) output { return output{kind: regular, path: path, mode: 0o644} }
	q := &Request{dir: dir, words: []string{"cc", "-c", "a.c", "-obuild/a.o", "--map=" + other + "/a.map", "-Wp,-MD,sub/.deps"}}
	for name, c := range map[string]struct {
		outputs []output
		good    bool
	}{
		"beside the source":     {[]output{file("a.o")}, true},
		"where a word says":     {[]output{file("build/a.o"), file(other + "/a.map"), file("sub/.deps")}, true},
		"in a folder it makes":  {[]output{{kind: folder, path: "new", mode: 0o755}, file("new/x")}, true},
		"a link beside it":      {[]output{file("a.so.1"), {kind: link, path: "a.so", text: "a.so.1"}}, true},
		"above":                 {[]output{file("../a.o")}, false},
		"anywhere":              {[]output{file(home + "/profile")}, false},
		"through a link":        {[]output{file("out/profile")}, false},
		"hidden":                {[]output{file(".bashrc")}, false},
		"in a folder not named": {[]output{file("src/x.h")}, false},
		"a link away":           {[]output{{kind: link, path: "a.so", text: home + "/x"}}, false},
		"a link up":             {[]output{{kind: link, path: "a.so", text: "../../x"}}, false},
		"through its own link":  {[]output{{kind: link, path: "d", text: ".."}, file("d/x")}, false},
	} {
		if err := (&result{foreign: true, outputs: c.outputs}).admitted(q); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if err := (&result{outputs: c.outputs}).admitted(q); err != nil {
			t.Errorf("%s: made here: %v", name, err)
		}
	}
}

func TestResultThatGivesPrivilegesIsNone(t *testing.T) {
	for mode, good := range map[uint32]bool{0o755: true, 0o1777: true, 0o4755: false, 0o2755: false, 0o100644: false} {
		r := result{outputs: []output{{kind: regular, path: "a", mode: mode}}}
		if _, err := parse(r.append(nil)); (err == nil) != good {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

func TestWhatATerminalObeysIsNotPrintedButForColours(t *testing.T) {
	for text, want := range map[string]string{
		"a.c:1: \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kno\n": "a.c:1: \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kno\n",
		"\x1b]0;title\x07a":                          "a",
		"\x1b]8;;https://x\x1b\\-Wall\x1b]8;;\x1b\\": "-Wall",
		"\x1b[2J\x1b[H\x1b[6n\x1b[?1049hb":           "b",
		"\x1bcreset\x1b(0":                           "reset",
		"tab\tä\r\n\x08\x7f\u009bc":                  "tab\tä\r\nc",
		"\x1b":                                       "",
	} {
		if got := string(harmless([]byte(text))); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What is dropped, as a pattern says it.
func TestSequencesAreThoseOfThePattern(t *testing.T) {
	sequences := regexp.MustCompile("\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")
	colours := regexp.MustCompile("^\x1b\\[[0-9;]*[mK]$")
	letters := []string{"\x1b", "\x1b", "\x1b[", "\x1b]", "\x07", "\\", "m", "K", ";", "0", "1", "?", "/", " ", "~", "\x7f", "ä", "\x9b", "\xff", "\n", "@"}
	random := rand.New(rand.NewPCG(1, 2))
	found := [2]int{}
	for range 200000 {
		var text []byte
		for range random.IntN(12) {
			text = append(text, letters[random.IntN(len(letters))]...)
		}
		at, size := sequence(text)
		want := sequences.FindIndex(text)
		if want == nil {
			want = []int{len(text), len(text)}
		}
		if at != want[0] || at+size != want[1] {
			t.Fatalf("%q: %d to %d, want %v", text, at, at+size, want)
		}
		s := text[at : at+size]
		if size > 0 && isColour(s) != colours.Match(s) {
			t.Fatalf("%q: a colour: %v", s, isColour(s))
		}
		if size > 0 {
			found[0]++
		}
		if isColour(s) {
			found[1]++
		}
	}
	if found[0] < 10000 || found[1] < 1000 {
		t.Errorf("%d sequences, %d colours", found[0], found[1])
	}
}
