package record

import (
	"os"
	"testing"
)

// A process that has NVRTC's libraries mapped sees no change of them, and one that has
// just begun does.
func TestWhatACompilerHasLoadedIsComparedAtOnceAndThenOnceASecond(t *testing.T) {
	for name, loaded := range map[string]bool{"lib": true, "early/none": true, "source": false, "later": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, file := range []string{"lib", "source", "early/else"} {
				w.put(file, "as it was")
			}
			w.compiler = &Compiler{Startup: map[string]bool{w.dir + "/lib": true, w.dir + "/early/none": true}}
			l, err := w.run("sh", "-c", "read a <lib; read b <source; [ -e early/none ]; [ -e later ]; true")
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
