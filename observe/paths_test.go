// What a path means, through links, open folders and /proc.

package observe

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// plot makes the folder of tests/observe/c/paths.c.
func plot(t *testing.T) func(dir string) {
	return func(dir string) {
		t.Helper()
		for _, name := range []string{"/f", "/sub/f", "/new\nline", "/\xff\xfe\x80"} {
			put(t, dir+name, "x")
		}
		for link, to := range map[string]string{"link": "sub", "way": "link", "loop": "loop", "tells": "/proc/self/status"} {
			if err := os.Symlink(to, dir+"/"+link); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// paths plays a scene of paths.c.
func paths(t *testing.T, scene string, want map[string]string, uses ...Use) {
	t.Helper()
	play(t, "paths", scene, plot(t), func(t *testing.T, dir string, r *Report) {
		t.Helper()
		r.expect(t, dir, want)
		r.uses(t, uses...)
	})
}

func TestWhatIsDoneInAFolderOpenedWithOPathIsDoneUnderItsName(t *testing.T) {
	paths(t, "folder_opened_with_o_path", map[string]string{"link/f": "r", "link/none": "absent", "sub/f": "", "link": "l"})
}

func TestLinksCountWhereAnOpenFolderHasTwoNames(t *testing.T) {
	paths(t, "folder_of_two_names", map[string]string{"way": "rt", "link": "t", "sub/f": "r"})
}

func TestFilesBehindNamesOfDescriptorsCount(t *testing.T) {
	paths(t, "descriptors_by_name", map[string]string{"sub/f": "r", "f": "lr"})
}

func TestOwnFolderAndRootByNameOfProc(t *testing.T) {
	paths(t, "own_folder_by_name", map[string]string{"f": "r", "link/../f": "r", "/etc/passwd": "r"})
}

func TestLinksToAProgramCountWhereItAsksForItsPath(t *testing.T) {
	path := program(t, "paths", "paths")
	modes(t, func(t *testing.T, stops bool) {
		for _, scene := range []string{"own_program", "own_memory"} {
			dir := folder(t)
			os.Mkdir(dir+"/bin", 0o755)
			os.Symlink(path, dir+"/bin/p")
			os.Symlink("bin", dir+"/b")
			r := observeCommand(t, &Command{Args: []string{"b/p", scene}, Dir: dir, Env: os.Environ(), Stdin: -1, Stops: stops})
			// What is no link may become one, and its path is another then.
			r.expect(t, dir, map[string]string{"b": "t", "bin": "lp", "bin/p": "t", "b/p": "x", path: "lp"})
			if n := r.named(dir + "/b"); n != nil && n.Text != "bin" {
				t.Errorf("%s: the link is %q", scene, n.Text)
			}
		}
	})
}

//jitcache:control JO_CONTROL_WAY
func TestLinksToAFileCountWhereTheTreeAsksForItsPath(t *testing.T) {
	paths(t, "own_descriptor", map[string]string{"way": "t", "link": "t", "way/f": "r"})
}

func TestLinksToTheFolderCountWhereTheTreeAsksForIt(t *testing.T) {
	path := program(t, "paths", "paths")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		plot(t)(dir)
		r := observeCommand(t, &Command{Args: []string{path, "own_folder"}, Dir: dir + "/way", Env: os.Environ(), Stdin: -1, Stops: stops})
		r.expect(t, dir, map[string]string{"way": "t", "link": "t"})
		if !r.used(UseFolder) {
			t.Errorf("uses %+v", r.Uses)
		}
	})
}

func TestFolderThatWasEnteredCountsAsNoLinkWhereTheTreeAsksForItsPath(t *testing.T) {
	for _, scene := range []string{"entered_folder", "entered_by_whole_path"} {
		paths(t, scene, map[string]string{"sub": "lp"})
	}
}

func TestDotsAndSlashesStayAsTheyAre(t *testing.T) {
	paths(t, "dots_and_slashes", map[string]string{
		"./sub/../f": "r", "way/../f": "r", "sub//f": "l", "f/": "not a directory", "f/none": "not a directory", "": "",
	})
}

func TestNamesFromAFolderThatIsGoneCannotBeTold(t *testing.T) {
	paths(t, "folder_that_goes", map[string]string{"made/f": "", "made/../f": ""}, UseUnreadable)
}

func TestOwnFolderThatIsRenamedStaysTheFolder(t *testing.T) {
	paths(t, "own_folder_renamed", map[string]string{"made/g": "", "other/g": "", "other/../f": "r"})
}

func TestTheirFolderThatIsRenamedStaysTheFolder(t *testing.T) {
	play(t, "paths", "their_folder_renamed", plot(t), func(t *testing.T, dir string, r *Report) {
		if how := r.file(dir + "/sub"); how&Changed == 0 {
			t.Errorf("sub was changed: %b", how)
		}
	})
}

func TestFailuresAreKeptAsWhatTheyAre(t *testing.T) {
	paths(t, "loop", map[string]string{"loop": "too many levels of symbolic links"})
	paths(t, "long_names", map[string]string{strings.Repeat("x", 256): "file name too long"})
}

func TestPathThatOnlyItsFolderMakesTooLongIsSeen(t *testing.T) {
	paths(t, "deep_folder", nil, UseUnreadable)
}

func TestNamesAreBytes(t *testing.T) {
	paths(t, "any_bytes", map[string]string{"new\nline": "r", "\xff\xfe\x80": "r", "\xc3(": "absent"})
}

func TestWhatProcSaysOfTheTreeIsNoInput(t *testing.T) {
	play(t, "paths", "proc_in_other_spellings", plot(t), func(t *testing.T, dir string, r *Report) {
		for i := range r.Names {
			if strings.Contains(r.Names[i].Path, "proc") && !strings.Contains(r.Names[i].Path, "version") && r.Names[i].Path != "/proc" {
				t.Errorf("%s", r.Names[i].Path)
			}
		}
		r.expect(t, dir, map[string]string{"tells": ""})
		if n := r.named("/proc//version"); n == nil || !strings.HasPrefix(string(n.Content), "Linux") {
			t.Errorf("version: %+v", n)
		}
	})
}

//jitcache:control JO_CONTROL_TEXT
func TestTextOfALinkIsAnInput(t *testing.T) {
	paths(t, "link_itself", map[string]string{"link": "t", "way": "t", "f": "lp", "none": "absent"})
}

func TestFoldersAreEnteredAndLeft(t *testing.T) {
	paths(t, "through_folder_and_back", map[string]string{"way/f": "r", "way/../f": "r"})
}

// asRoot skips a test where it cannot be somebody else.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// closed adds what a user may not see.
func closed(t *testing.T, dir string) {
	t.Helper()
	os.Chmod(put(t, dir+"/denied", "secret"), 0o600)
	put(t, dir+"/closed/f", "x")
	os.Chmod(dir+"/closed", 0o700)
}

var deniedNames = map[string]string{
	"closed/f": "permission denied", "closed/none": "permission denied", "denied": "lr", "closed": "r",
}

func TestWhatAUserMayNotSeeFailsAsItIs(t *testing.T) {
	asRoot(t)
	path := program(t, "paths", "paths")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		closed(t, dir)
		r := observeAs(t, 1000, Command{Args: []string{path, "denied"}, Dir: dir, Stops: stops})
		if r.Status != 0 {
			t.Fatalf("%v: %s", r.Status, r.Err)
		}
		r.expect(t, dir, deniedNames)
		for _, name := range []string{"/denied", "/closed"} {
			if n := r.named(dir + name); n != nil && n.Errno != syscall.EACCES {
				t.Errorf("%s can be read: %v", filepath.Base(name), n.Errno)
			}
		}
		r.uses(t)
	})
}

func TestProcessThatBecomesAnotherUserIsSeenAndSeesAsThat(t *testing.T) {
	asRoot(t)
	play(t, "paths", "denied", func(dir string) { closed(t, dir) }, func(t *testing.T, dir string, r *Report) {
		r.uses(t, UseIdentity)
	})
}
