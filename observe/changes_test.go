// Changes of files are seen, by whatever call.

package observe

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// changes plays a scene of tests/observe/c/changes.c.
func changes(t *testing.T, scene string, names map[string]string, files map[string]Written, uses ...Use) {
	t.Helper()
	prepare := func(dir string) {
		for _, name := range []string{"/f", "/g", "/sub/f"} {
			put(t, dir+name, "x")
		}
		if err := os.Symlink("f", dir+"/link"); err != nil {
			t.Fatal(err)
		}
	}
	play(t, "changes", scene, prepare, func(t *testing.T, dir string, r *Report) {
		t.Helper()
		r.expect(t, dir, names)
		r.wrote(t, dir, files)
		r.uses(t, uses...)
	})
}

//jitcache:control JO_CONTROL_DESCRIPTORS
func TestChangeByADescriptorThatOnlyReadsIsSeen(t *testing.T) {
	changes(t, "by_a_descriptor_that_only_reads", nil, map[string]Written{"f": Changed, "g": Changed, "sub/f": Changed})
	changes(t, "by_an_empty_path", nil, map[string]Written{"f": Changed})
}

func TestChangeThroughALinkIsOneOfWhatItLeadsTo(t *testing.T) {
	changes(t, "through_own_link", nil, map[string]Written{"f": Changed, "own": Created, "g": Changed})
	changes(t, "link_itself", nil, map[string]Written{"f": 0, "own": Created})
}

func TestWhatStoodInTheWayIsAnInput(t *testing.T) {
	changes(t, "what_exists_already", map[string]string{"f": "lrp", "g": "lp", "sub": "lp", "link": "t"},
		map[string]Written{"f": 0, "g": 0, "link": 0})
	changes(t, "what_is_not_there", map[string]string{
		"none": "absent", "nothing": "absent", "nobody": "absent", "nowhere/f": "absent", "nofolder": "absent", "f": "lp",
	}, map[string]Written{"f": 0, "none": 0})
}

func TestNamelessFileThatIsLinkedIsCreated(t *testing.T) {
	changes(t, "nameless_then_linked", map[string]string{"out": "absent"}, map[string]Written{"out": Created})
}

func TestExchangeOfTwoNamesIsNotPassedOver(t *testing.T) {
	changes(t, "exchanged", nil, nil, UseUnknown)
}

//jitcache:control JO_CONTROL_OWN
func TestWhatIsInARenamedFolderIsTheTreesOwn(t *testing.T) {
	changes(t, "own_folder_renamed", map[string]string{"b/h": "", "b/deep/h": "", "a/h": ""}, map[string]Written{
		"a": Created | Removed | Folder, "a/h": Created | Removed, "b": Created | Folder, "b/h": Created,
		"b/deep": Created | Folder, "b/deep/h": Created,
	})
}

func TestFileThatGetsOneMoreNameIsRead(t *testing.T) {
	changes(t, "linked", map[string]string{"f": "lrp"}, map[string]Written{"twin": Created})
}

//jitcache:control JO_CONTROL_LOOKED
func TestWhatTheTreeHasReplacedIsNoInputAnyMore(t *testing.T) {
	changes(t, "looked_at_replaced_and_read_back", map[string]string{"f": "l", "g": "lp"},
		map[string]Written{"f": Replaced, "new": Created | Removed, "g": Replaced | Removed})
}

func TestTextOfTheirLinkIsAnInputWhereverItLeads(t *testing.T) {
	changes(t, "their_link_to_own_file", map[string]string{"link": "t"}, map[string]Written{"f": Replaced})
}

func TestChangeInPlaceIsSeen(t *testing.T) {
	changes(t, "in_place", map[string]string{"link": "r", "f": "r"}, map[string]Written{"f": Changed, "g": Replaced})
}

func TestWhatIsMadeAndGoneIsScratch(t *testing.T) {
	changes(t, "made_and_gone", nil, map[string]Written{
		"tmp": Created | Removed | Folder, "tmp/h": Created | Removed, "pipe": Created | Removed,
	})
}

func TestFileOpenedAgainByItsDescriptorsNameIsChanged(t *testing.T) {
	changes(t, "through_a_descriptors_name", nil, map[string]Written{"f": Changed})
}

// What stands for a terminal or a pipe is a file here.
func TestStandardOutputOpenedAgainGoesOnWhereItWas(t *testing.T) {
	path := program(t, "changes", "changes")
	modes(t, func(t *testing.T, stops bool) {
		c := Command{Args: []string{path, "standard_output_opened_again"}, Dir: "/", Env: os.Environ(), Stdin: -1, Stops: stops}
		if r := observeCommand(t, &c); string(r.Out) != "one\ntwo\nthree\nfour\n" {
			t.Errorf("%q %s", r.Out, r.Err)
		}
	})
}

func TestChangeThatIsRefusedIsNone(t *testing.T) {
	asRoot(t)
	path := program(t, "changes", "changes")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		put(t, dir+"/f", "x")
		r := observeAs(t, 1000, Command{Args: []string{path, "denied"}, Dir: dir, Stops: stops})
		if r.Status != 0 {
			t.Fatalf("%v: %s", r.Status, r.Err)
		}
		r.expect(t, dir, map[string]string{"out": "absent", "f": "lp"})
		if len(r.Files) != 0 {
			t.Errorf("written: %+v", r.Files)
		}
		r.uses(t, UseDenied)
	})
}

//jitcache:control JO_CONTROL_STOOD
func TestContentThatIsReadAndThenWrittenOverIsInTheReport(t *testing.T) {
	for _, script := range []string{
		"read x < f; echo new > f", "read x < f; rm f; echo new > f", "read x < f; echo new > g; mv g f",
	} {
		dir := t.TempDir()
		put(t, dir+"/f", "old\n")
		time.Sleep(60 * time.Millisecond) // until its stamp would do
		r := sh(t, dir, script)
		if n := r.named(dir + "/f"); n == nil || string(n.Content) != "old\n" {
			t.Errorf("%s: %+v", script, n)
		}
	}
}

func TestWayInWhichAFileIsOpenedToBeWrittenIsSeen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"into", "anew", "moved", "set"} {
		put(t, dir+"/"+name, "old\n")
	}
	os.Chmod(dir+"/into", 0o640)
	r := sh(t, dir, "umask 0; echo x > into; rm anew; echo x > anew; echo x > t; mv t moved; echo x > set; chmod 600 set; echo x > made")
	want := map[string]Written{
		"into": Replaced | InPlace, "anew": Replaced, "moved": Replaced, "set": Replaced | InPlace | Moded, "made": Created | InPlace,
	}
	for _, f := range r.Files {
		name := filepath.Base(f.Path)
		if how, ok := want[name]; ok && f.How != how {
			t.Errorf("%s: %b, want %b", name, f.How, how)
		}
		if name == "into" && (f.Asked != 0o666 || f.OverMode != 0o640 || int(f.OverGroup) != os.Getegid()) {
			t.Errorf("%+v", f)
		}
		delete(want, name)
	}
	if len(want) != 0 {
		t.Error(want)
	}
}
