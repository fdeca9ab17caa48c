// Which entries words choose, and what cannot be packed.

package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
)

// spoilt returns a cache of four entries, a list and a note of this machine, with damaged
// files, and the number of these.
func spoilt(t *testing.T) (c *core.Cache, bad int) {
	c = warmed(t, 4)
	c.SaveNote(noteKey(t, "a list"), lists(t, map[string]key.ID{"/a": testKey(t, 0).ID}))
	c.SaveNote(noteKey(t, "of this machine"), []byte("nonsense"))
	c.SaveNote(noteKey(t, "spoilt"), lists(t, map[string]key.ID{"/a": testKey(t, 1).ID}))
	s, _ := c.Store()
	for _, k := range []*key.Key{testKey(t, 3), noteKey(t, "spoilt")} { // damage that only the checksum shows
		data, err := os.ReadFile(s.PathOf(&k.ID))
		if err != nil {
			t.Fatal(err)
		}
		data[0] ^= 1
		if err := os.WriteFile(s.PathOf(&k.ID), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Dir(s.PathOf(&testKey(t, 0).ID))
	name := func(letter string) string { return folder + "/" + strings.Repeat(letter, 62) + ".jce" }
	for what, err := range map[string]error{
		"junk": os.WriteFile(name("a"), []byte("junk"), 0o600), "empty": os.WriteFile(name("b"), nil, 0o600),
		"link": os.Symlink("/etc/passwd", name("c")), "folder": os.Mkdir(name("d"), 0o700), "pipe": syscall.Mkfifo(name("e"), 0o600),
		"of another": os.Link(s.PathOf(&testKey(t, 1).ID), name("f")), "no name of an entry": os.WriteFile(folder+"/x.jce", []byte("junk"), 0o600),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	return c, 2 + 6
}

// Packing a directory with damaged files counts them: the bundle lacks entries that the
// directory seemed to have.
func TestWhatCannotBePackedIsCounted(t *testing.T) {
	c, bad := spoilt(t)
	for _, row := range []struct {
		wanted       []string
		packed, left int
	}{
		{nil, 4, bad},               // three results, a list
		{[]string{"native"}, 1, 1},  // 1, and 3, which is spoilt
		{[]string{"entry 0"}, 2, 0}, // and its list
		{[]string{testKey(t, 0).ID.String()[:2] + strings.Repeat("a", 62)}, 0, 1}, // junk
		{[]string{testKey(t, 3).ID.String()}, 0, 1},
		{[]string{noteKey(t, "spoilt").ID.String()}, 0, 1},
	} {
		ids, err := Choose(t.Context(), c, Wanted{Words: row.wanted})
		if err != nil {
			t.Errorf("%q: %v", row.wanted, err)
			continue
		}
		got, err := Write(&bytes.Buffer{}, c, ids, nil)
		if err != nil || got.Entries != row.packed || got.Left != row.left {
			t.Errorf("%q: %+v, %v; want %d and %d left", row.wanted, got, err, row.packed, row.left)
		}
	}
}

func TestNoteOfThisMachineIsSaidToBeOne(t *testing.T) {
	c := warmed(t, 1)
	note := noteKey(t, "of this machine")
	c.SaveNote(note, []byte("nonsense"))
	for _, w := range []string{key.NoteKind, note.ID.String()} {
		if ids, err := Choose(t.Context(), c, Wanted{Words: []string{w}}); err == nil || len(ids) != 0 || !strings.Contains(err.Error(), "notes of this machine") {
			t.Errorf("%q: %v, %v", w, ids, err)
		}
	}
	// A machine that has got such a note as an entry does not pass it on.
	own := open(t, t.TempDir()+"/own", nil)
	data, err := os.ReadFile(pathOf(t, c, note))
	if err != nil {
		t.Fatal(err)
	}
	brought := archive(t, forged{*header(nameOf(&note.ID), int64(len(data)), 0), string(data)})
	if sum, err := Add(own, bytes.NewReader(brought), AddOptions{Bounds: Usual, Unsigned: true}); err != nil || sum.New != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if got := own.LoadNote(&note.ID); string(got) != "nonsense" {
		t.Errorf("%q", got)
	}
	if ids, err := Choose(t.Context(), own, Wanted{}); err != nil || len(ids) != 0 {
		t.Errorf("%v, %v", ids, err)
	}
}

// A use is noted once an hour, and that of what is in memory may be noted another hour later.
//
//jitcache:control nolag
func TestOfTheLastHourIsWhatWasUsedThenAndWhatMayHaveBeen(t *testing.T) {
	c := warmed(t, 4)
	now := time.Now()
	for i, age := range []time.Duration{0, 30 * time.Minute, 2*time.Hour + 50*time.Minute, 3*time.Hour + time.Minute} {
		used := now.Add(-age)
		if err := os.Chtimes(pathOf(t, c, testKey(t, i)), used, used); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		since time.Time
		words []string
		want  int
	}{
		{time.Time{}, nil, 4},
		{now.Add(-time.Hour), nil, 3},
		{now.Add(-2 * time.Hour), nil, 4},
		{now.Add(-time.Hour), []string{"native"}, 1},
	} {
		ids, err := Choose(t.Context(), c, Wanted{Words: row.words, Since: row.since})
		if err != nil || len(ids) != row.want {
			t.Errorf("%v %q: %d entries, want %d; %v", row.since, row.words, len(ids), row.want, err)
		}
	}
	_, err := Choose(t.Context(), c, Wanted{Words: []string{"entry 3"}, Since: now.Add(-time.Hour)})
	if err == nil || !strings.Contains(err.Error(), "entry 3") {
		t.Errorf("an entry that was not used: %v", err)
	}
}

// A result that was used brings its list, and the other results of that list's set, however old these are.
func TestResultOfTheLastHourBringsAnOldList(t *testing.T) {
	c := warmed(t, 3)
	note := noteKey(t, "request")
	c.SaveNote(note, lists(t, map[string]key.ID{"/a": testKey(t, 0).ID}))
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, k := range []*key.Key{note, testKey(t, 1), testKey(t, 2)} {
		if err := os.Chtimes(pathOf(t, c, k), old, old); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := Choose(t.Context(), c, Wanted{Since: time.Now().Add(-time.Hour)})
	if err != nil || len(ids) != 2 || !slices.Contains(ids, note.ID) || !slices.Contains(ids, testKey(t, 0).ID) {
		t.Errorf("%v, %v", ids, err)
	}
}

// Processes of two containers may have the same number, and share a folder.
func TestBundlesThatAreMadeAtOnceAreNotInEachOthersWay(t *testing.T) {
	c, dir := warmed(t, 20), t.TempDir()
	ids, _ := Choose(t.Context(), c, Wanted{})
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			if p, err := Create(c, ids, dir+"/it", nil); err != nil || p.Entries != 20 {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	makers.Wait()
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
		t.Errorf("%v", left)
	}
}

func pathOf(t *testing.T, c *core.Cache, k *key.Key) string {
	t.Helper()
	s, err := c.Store()
	if err != nil {
		t.Fatal(err)
	}
	if _, why := s.Peek(&k.ID); why != store.None {
		t.Fatal(why)
	}
	return s.PathOf(&k.ID)
}

// The pieces of a launched command's large outputs are entries of a kind of their own.
func TestResultsAreChosenWithTheirPieces(t *testing.T) {
	for kind, want := range map[string]bool{"run": true, "_run": true, "_native": false, "native": false, "": false} {
		if is := isMeant("run", &core.Listed{Kind: kind, Key: "00", Name: "gcc a.o"}); is != want {
			t.Errorf("%q: %v", kind, is)
		}
	}
}
