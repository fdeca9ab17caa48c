// A hermetic tree is shown one second, and what that would harm ends it.

package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hermetically observes a command that is shown the second of tests/observe/c/times.c, in a folder with what its scenes need.
func hermetically(t *testing.T, args ...string) *Report {
	t.Helper()
	dir := folder(t)
	put(t, dir+"/f", "x")
	put(t, dir+"/g", "x")
	put(t, dir+"/compares.sh", "if test g -nt f\nthen echo newer\nfi\n")
	put(t, dir+"/prints.sh", "echo x-nt '-not'\n")
	put(t, dir+"/make", "#!/bin/sh\ntrue\n")
	os.Chmod(dir+"/make", 0o755)
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("make", dir+"/gmake-4.4"); err != nil {
		t.Fatal(err)
	}
	shown := &Hermetic{Second: 1_000_000_000, Deciders: []string{"make", "cp -u", "cp --up", "find -newer"}}
	return observeCommand(t, &Command{Args: args, Dir: dir, Env: os.Environ(), Stdin: -1, Hermetic: shown})
}

// ended returns what has ended the mode, "" if nothing has.
func (r *Report) ended() string {
	for _, u := range r.Uses {
		if u.Use == UseHermetic {
			return u.Detail
		}
	}
	return ""
}

// playHermetic plays a scene of tests/observe/c/times.c, which checks what it is shown.
func playHermetic(t *testing.T, program, scene string) *Report {
	t.Helper()
	r := hermetically(t, program, scene)
	if r.Status != 0 || len(r.Err) != 0 || r.Unobserved {
		t.Errorf("%s: %v: %s", scene, r.Status, r.Err)
	}
	return r
}

//jitcache:control JO_CONTROL_READINGS
func TestHermeticClockStartsAtTheSecondAndGoesOnByReadings(t *testing.T) {
	if r := playHermetic(t, program(t, "times", "times", "-lrt"), "reads_clocks"); r.used(UseClock) || r.ended() != "" {
		t.Errorf("%+v", r.Uses)
	}
}

//jitcache:control JO_CONTROL_FILETIMES
func TestHermeticTreeSeesOneTimeOfAllFiles(t *testing.T) {
	if r := playHermetic(t, program(t, "times", "times", "-lrt"), "asks_for_times"); r.used(UseInode) || r.ended() != "" {
		t.Errorf("%+v", r.Uses)
	}
}

func TestStaticProgramInAHermeticTreeIsShownTheSame(t *testing.T) {
	if err := compile(filepath.Join(t.TempDir(), "static"), "-static", "../tests/observe/c/times.c", "-lrt"); err != nil {
		t.Skipf("the compiler links nothing statically: %v", err)
	}
	static := program(t, "times", "times-static", "-static", "-lrt")
	for _, scene := range []string{"reads_clocks", "asks_for_times", "waits_for_a_condition"} {
		if r := playHermetic(t, static, scene); r.used(UseClock) || r.ended() != "" {
			t.Errorf("%s: %+v", scene, r.Uses)
		}
	}
}

//jitcache:control JO_CONTROL_DEADLINES
func TestWaitForATimeInAHermeticTreeLastsAsLongAsItShould(t *testing.T) {
	for _, scene := range []string{"waits_for_a_condition", "is_stopped_while_it_waits", "sleeps_until", "waits_for_a_timer", "waits_for_a_signal_of_a_timer"} {
		if r := playHermetic(t, program(t, "times", "times", "-lrt"), scene); r.used(UseClock) || r.ended() != "" {
			t.Errorf("%s: %+v", scene, r.Uses)
		}
	}
}

//jitcache:control JO_CONTROL_SLEEPS
func TestSleepMovesTheClockOfAHermeticThread(t *testing.T) {
	for _, scene := range []string{"sleeps_until_the_clock_shows_it", "sleeps_by_every_call"} {
		if r := playHermetic(t, program(t, "times", "times", "-lrt"), scene); r.ended() != "" {
			t.Errorf("%s: %+v", scene, r.Uses)
		}
	}
}

func TestWhatCannotBeShownEndsAHermeticRun(t *testing.T) {
	for scene, want := range map[string]string{
		"reads_a_clock_that_cannot_be_shown": "a clock that cannot be shown", "waits_long": "after long waits",
	} {
		if r := playHermetic(t, program(t, "times", "times", "-lrt"), scene); !strings.Contains(r.ended(), want) {
			t.Errorf("%s: %q", scene, r.ended())
		}
	}
}

// A program that would decide by the times of files sees the true ones.
//
//jitcache:control JO_CONTROL_DECIDERS
func TestProgramThatDecidesByTimesEndsAHermeticRun(t *testing.T) {
	const sees = " && touch made && stat -c %Y made" // nobody could tell this second from the one that is shown
	for script, ends := range map[string]bool{
		"./make":                     true,
		"./gmake-4.4":                true,
		"sh -c './make; true'":       true,
		"sh -e ./make":               true,
		"cp -pu f h":                 true,
		"cp --update f h":            true,
		"find . -newer f >/dev/null": true,
		"sh compares.sh":             true,
		". ./compares.sh":            true,
		"echo true | sh":             true,
		"sh -c '[ f -nt g ] || :'":   true,
		"cp -p f h":                  false,
		"find . -name u >/dev/null":  false,
		"sh prints.sh >/dev/null":    false,
		"sh -c ': -note'":            false,
		"sh -c ': ./make'":           false,
	} {
		r := hermetically(t, "/bin/sh", "-c", script+sees)
		if said := strings.TrimSpace(string(r.Out)); (r.ended() != "") != ends || (said != "1000000000") != ends {
			t.Errorf("%s: %q: %q %s", script, r.ended(), said, r.Err)
		}
	}
}

func TestConnectionEndsAHermeticRun(t *testing.T) {
	if r := hermetically(t, program(t, "calls", "calls"), "own_sockets"); r.ended() != "" {
		t.Errorf("own sockets: %q", r.ended())
	}
	if r := hermetically(t, "/bin/bash", "-c", "exec 9<>/dev/tcp/127.0.0.1/9; true"); r.ended() != "it connects to something" {
		t.Errorf("%q", r.ended())
	}
}
