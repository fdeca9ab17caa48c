// Every call that looks at something is seen, and fails as it does unobserved.

package observe

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// calls plays a scene of tests/observe/c/calls.c.
func calls(t *testing.T, scene string, names map[string]string, uses ...Use) {
	t.Helper()
	play(t, "calls", scene, little, func(t *testing.T, dir string, r *Report) {
		t.Helper()
		r.expect(t, dir, names)
		r.uses(t, uses...)
	})
}

func little(dir string) {
	os.MkdirAll(dir+"/sub", 0o755)
	os.WriteFile(dir+"/f", []byte("x"), 0o644)
	os.WriteFile(dir+"/sub/f", []byte("x"), 0o644)
}

func TestEveryCallThatLooksIsSeenAndFailsAsItDoes(t *testing.T) {
	calls(t, "unusual_calls_that_look", map[string]string{
		"f": "lrp", "sub/f": "lrp", "sub/../f": "lrp", "two": "absent", "four": "absent", "/none/eight": "absent",
	})
}

// Who passes through a folder, from the root on, has not asked what it is.
//
//jitcache:control JO_CONTROL_WALKS
func TestWhoPassesThroughAFolderHasNotAskedOfIt(t *testing.T) {
	prepare := func(dir string) {
		little(dir)
		for _, name := range []string{"two", "three", "four", "five", "six"} {
			put(t, dir+"/"+name+"/sub/f", "x")
		}
	}
	play(t, "calls", "walks", prepare, func(t *testing.T, dir string, r *Report) {
		t.Helper()
		for name, asked := range map[string]bool{
			"sub": false, "sub/f": true, "two": false, "two/sub": true, "three": false, "three/sub": true,
			"four": true, "four/sub": true, "five": true, "five/sub": true, "six": false, "six/sub": true,
		} {
			if n := r.named(dir + "/" + name); n == nil || n.Statted == 0 || (n.Asked != 0) != asked {
				t.Errorf("%q: %+v, asked: %v", name, n, asked)
			}
		}
	})
}

//jitcache:control JO_CONTROL_INODES
func TestWhoAsksForJustTheInodeIsSeen(t *testing.T) {
	calls(t, "asks_of_the_inode", map[string]string{"f": "l"}, UseInode)
	calls(t, "asks_of_the_time_of_a_folder", map[string]string{"sub": "l"}, UseInode)
	calls(t, "asks_of_the_time_of_a_link", nil, UseInode)
	calls(t, "asks_of_what_counts", map[string]string{"f": "lp"})
	calls(t, "asks_of_times_that_count", map[string]string{"sub": "l"})
}

//jitcache:control JO_CONTROL_MADE
func TestWhoAsksForTheUmaskIsSeen(t *testing.T) {
	for scene, asks := range map[string]bool{
		"asks_of_the_umask": true, "asks_of_what_it_has_made": true, "asks_of_a_link_that_it_has_made": false, "asks_of_what_counts": false,
	} {
		play(t, "calls", scene, little, func(t *testing.T, _ string, r *Report) {
			t.Helper()
			if slices.ContainsFunc(r.Uses, func(u Used) bool { return u.Use == UseUmask }) != asks {
				t.Errorf("%s: %+v", scene, r.Uses)
			}
		})
	}
}

// bash asks as it starts. Who asks again wants to know.
//
//jitcache:control JO_CONTROL_AGAIN
func TestWhoAsksAgainHowManyProcessesThereMayBeIsSeen(t *testing.T) {
	const number = "6" // RLIMIT_NPROC
	for scene, want := range map[string][]string{
		"asks_once_how_many_processes": {number}, "asks_twice_how_many_processes": {number, number + " again"},
	} {
		play(t, "calls", scene, little, func(t *testing.T, _ string, r *Report) {
			t.Helper()
			var asked []string
			for _, u := range r.Uses {
				if u.Use == UseLimits && strings.HasPrefix(u.Detail, number) {
					asked = append(asked, u.Detail)
				}
			}
			slices.Sort(asked)
			if !slices.Equal(asked, want) {
				t.Errorf("%s: %q", scene, asked)
			}
		})
	}
}

//jitcache:control JO_CONTROL_RESTART
func TestSignalInterruptsNoCallThatItWouldNot(t *testing.T) {
	calls(t, "interrupted", map[string]string{"f": "l"})
}

//jitcache:control JO_CONTROL_STRANGERS
func TestSignalsToStrangersAreSeen(t *testing.T) {
	calls(t, "signals_in_the_tree", nil)
	calls(t, "signal_to_a_stranger", nil, UseSignal)
}

func TestAProcessMayBecomeWhoItIs(t *testing.T) { calls(t, "identity_that_it_has", nil) }

func TestIoctlsThatAreNotKnownAreSeen(t *testing.T) {
	calls(t, "ioctls", nil)
	calls(t, "ioctl_that_is_not_known", nil, UseUnknown)
}

func TestSocketsAndDescriptorsWithinTheTreeAreItsOwn(t *testing.T) {
	calls(t, "own_sockets", map[string]string{"f": "r"})
}

func TestCallsThatTakeOthersAlongAreAnswered(t *testing.T) {
	answered(t, "calls_that_are_answered")
}

// Who does its work by io_uring does it in another way where there is none.
//
//jitcache:control JO_CONTROL_URING
func TestWhoAsksForIOUringIsSeen(t *testing.T) {
	answered(t, "asks_for_io_uring", UseUnknown)
}

// answered plays a scene that does not come out as it does unobserved.
func answered(t *testing.T, scene string, uses ...Use) {
	t.Helper()
	path := program(t, "calls", "calls")
	modes(t, func(t *testing.T, stops bool) {
		t.Helper()
		c := Command{Args: []string{path, scene}, Dir: "/", Env: os.Environ(), Stdin: -1, Stops: stops}
		r := observeCommand(t, &c)
		if r.Status != 0 {
			t.Errorf("%v: %s", r.Status, r.Err)
		}
		r.uses(t, uses...)
	})
}

//jitcache:control JO_CONTROL_ROOTS
func TestWhoOpensBelowAFolderWhateverThePathIsSeen(t *testing.T) {
	calls(t, "opens_in_another_root", nil, UseUnknown)
}

//jitcache:control JO_CONTROL_OWNTIMES
func TestWhoAsksForTheTimeOfWhatItHasMadeIsSeen(t *testing.T) {
	calls(t, "asks_of_the_time_of_what_it_has_made", nil, UseInode)
}

//jitcache:control JO_CONTROL_BLINDNESS
func TestAnotherRootIsSeenAndSeesItself(t *testing.T) {
	asRoot(t)
	calls(t, "another_root", nil, UseNamespace)
	calls(t, "other_mounts", nil, UseNamespace)
}

func TestProcessThatHidesItsMemoryWorksAndIsNotPassedOver(t *testing.T) {
	asRoot(t) // who is somebody else then
	path := program(t, "calls", "calls")
	modes(t, func(t *testing.T, stops bool) {
		dir := folder(t)
		little(dir)
		os.Chmod(dir, 0o777)
		r := observeAs(t, 1000, Command{Args: []string{path, "process_that_hides"}, Dir: dir, Stops: stops})
		if r.Status != 0 || r.Unobserved {
			t.Fatalf("%v: %s, unobserved %v", r.Status, r.Err, r.Unobserved)
		}
		r.expect(t, dir, map[string]string{"f": "r", "sub/f": "r"})
		if !r.used(UseUnreadable) && r.file(dir+"/out") == 0 {
			t.Errorf("uses %+v, files %+v", r.Uses, r.Files)
		}
	})
}

func TestProgramsMayHaveFiltersOfTheirOwn(t *testing.T) {
	calls(t, "own_filter", map[string]string{"f": "r", "sub/f": "r", "/none": "absent"})
}

func TestChildThatWantsNoTracerHasOne(t *testing.T) {
	calls(t, "child_that_wants_no_tracer", map[string]string{"f": "r"})
}

//jitcache:control JO_CONTROL_CHILDREN
func TestChildrenThatShareMemoryAreFollowed(t *testing.T) {
	calls(t, "child_with_its_parents_memory", map[string]string{"f": "r", "/bin/cat": "x"})
}

func TestThreadsThatOpenAtOnceAreSeen(t *testing.T) {
	want := map[string]string{"f": "r"}
	for i := range 8 {
		for j := range 100 {
			want[fmt.Sprintf("many/%d-%d", i, j)] = ""
		}
	}
	play(t, "calls", "threads_at_once", little, func(t *testing.T, dir string, r *Report) {
		r.expect(t, dir, want)
		for name := range want {
			if how := r.file(dir + "/" + name); name != "f" && how != Created {
				t.Fatalf("%s: %b", name, how)
			}
		}
	})
}

func TestThreadThatRunsAProgramIsTheProcess(t *testing.T) {
	calls(t, "thread_that_runs_a_program", map[string]string{"/bin/cat": "x", "sub/f": "r"})
}

func TestProgramsAreKnownHoweverTheyAreNamed(t *testing.T) {
	calls(t, "program_by_its_descriptor", map[string]string{"f": "r"})
	calls(t, "program_in_an_open_folder", map[string]string{"/bin/cat": "x", "f": "r"})
	calls(t, "program_without_a_name", nil, UseForeign)
}

func TestThousandsOfShortProcessesLeaveNothingBehind(t *testing.T) {
	calls(t, "short_processes", map[string]string{"f": "r"})
}
