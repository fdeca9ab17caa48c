// Lists of a compiler that lives on.

package record

import (
	"os"
	"testing"
)

// A process that has NVRTC's libraries mapped sees no change of them, and one that has
// just begun does.
func TestWhatACompilerHasLoadedIsComparedAtOnceAndThenOnceASecond(t *testing.T) {
	for name, loaded := range map[string]bool{
		"lib": true, "early/none": true, "path/none": true, "source": false, "later": false, "late/none": false,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, file := range []string{"lib", "source", "early/else", "path/else", "late/else"} {
				w.put(file, "as it was")
			}
			began := map[string]bool{}
			for _, name := range []string{"lib", "early/none", "path", "path/none", "late/none"} {
				began[w.dir+"/"+name] = true
			}
			w.compiler = &Compiler{Startup: began}
			// A loader looks at the folder too, if it does not find a library in it. "late" itself is looked at later.
			const looks = "read a <lib; read b <source; for f in early/none path path/none late late/none later; do [ -e $f ]; done; true"
			l, err := w.run("sh", "-c", looks)
			if err != nil {
				t.Fatal(err)
			}
			bytes := l.Append(nil)
			state := func(l *List) State {
				state, why := l.Check(w.surroundings())
				t.Log(state, why)
				return state
			}
			parsed := func() *List {
				l, err := Parse(bytes)
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			known := parsed()
			if state(known) == Changed {
				t.Fatal("changed before anything was")
			}
			os.Remove(w.dir + "/" + name)
			w.put(name, "another one")
			if is := state(known) != Changed; is != loaded {
				t.Errorf("taken to be the same: %v, want %v", is, loaded)
			}
			known.began -= int64(believed)
			if state(known) != Changed {
				t.Error("not seen after a second")
			}
			if state(parsed()) != Changed {
				t.Error("not seen by a process that has just begun")
			}
		})
	}
}

// Whether the worker may be run is a question of its start, too.
func TestWhetherACompilerMayRunIsAskedAtOnceAndThenOnceASecond(t *testing.T) {
	w := newWorld(t)
	w.put("run", "#!/bin/sh\n")
	os.Chmod(w.dir+"/run", 0o755)
	for began, later := range map[bool]State{true: Unchanged, false: Changed} {
		w.compiler = &Compiler{Startup: map[string]bool{w.dir + "/run": began}}
		l, err := w.run(w.dir + "/run")
		if err != nil {
			t.Fatal(err)
		}
		check := func(l *List) State {
			state, why := l.Check(w.surroundings())
			t.Log(state, why)
			return state
		}
		check(l)
		refuses := l.Clone()
		for i := range refuses.Permits {
			if p := &refuses.Permits[i]; p.Path == w.dir+"/run" {
				p.Errno = 13 // another answer than now
			}
		}
		if is := check(refuses); is != later {
			t.Errorf("asked before the first compile: %v: state %v, want %v", began, is, later)
		}
		refuses.began -= int64(believed)
		if check(refuses) != Changed {
			t.Error("not asked after a second")
		}
	}
}

// The race detector sees it too, when threads compile side by side.
func TestCheckOfACloneChangesNothingOfTheListItIsFrom(t *testing.T) {
	w := newWorld(t)
	w.put("a", "as it was")
	l, err := w.run("sh", "-c", "read a <a; ls >/dev/null; true")
	if err != nil {
		t.Fatal(err)
	}
	before := string(l.Append(nil))
	c := l.Clone()
	os.Remove(w.dir + "/a")
	w.put("a", "as it was")
	if state, why := c.Check(w.surroundings()); state == Changed {
		t.Fatal(why)
	}
	if string(c.Append(nil)) == before {
		t.Error("the check has put no new stamp into the clone")
	}
	if string(l.Append(nil)) != before {
		t.Error("the check has changed the list that it was cloned from")
	}
}
