// A cache whose directory is not used, and what its warning says.

package core

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"jitcache/core/store"
)

// others makes a cache directory that others may write, and returns it with the
// warnings.
func others(t *testing.T, mode uint32) (dir string, o Options, warned *string) {
	t.Helper()
	dir, warned = t.TempDir(), new(string)
	if err := exec.Command("chmod", fmt.Sprintf("%o", mode), dir).Run(); err != nil {
		t.Fatal(err)
	}
	o = Options{Values: map[string]string{"directory": dir}, Sink: func(_ Level, text string) { *warned += text }}
	return dir, o, warned
}

var writable = []uint32{0o775, 0o777, 0o1777, 0o2770, 0o757}

//jitcache:control nodegrade
func TestResultsOfARefusedDirectoryAreKeptInMemory(t *testing.T) {
	for _, mode := range writable {
		dir, o, warned := others(t, mode)
		c := open(t, o)
		k := testKey(t, "a", t.Name())
		if _, why := get(t, c, k); why != store.NoDirectory {
			t.Errorf("%o: before: %v", mode, why)
		}
		c.Put(k, []byte("x"), "", false)
		c.Put(k, []byte("y"), "", true)
		if got, _ := get(t, c, k); got != "y" {
			t.Errorf("%o: got %q, want y", mode, got)
		}
		if !strings.Contains(*warned, "in memory only") || !strings.Contains(*warned, "may write it") {
			t.Errorf("%o: warned of %q", mode, *warned)
		}
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Errorf("%o: %v was written", mode, files)
		}
	}
}

//jitcache:control nodegrade
func TestCountersWithoutADirectoryAreThoseOfTheProcess(t *testing.T) {
	_, o, _ := others(t, 0o775)
	c := open(t, o)
	k := testKey(t, "a", t.Name())
	get(t, c, k)
	c.Put(k, []byte("x"), "", false)
	get(t, c, k)
	get(t, c, k)
	got := c.Stats()
	if n := got.Total; n.HitsMemory != 2 || n.HitsDisk != 0 || n.Misses != 1 || n.MissReasons["no directory"] != 1 ||
		n.Puts != 0 || n.NotStored != 1 || n.NotReasons["no directory"] != 1 {
		t.Errorf("%+v", n)
	}
	if got.Kinds["generic"].HitsMemory != 2 {
		t.Errorf("%+v", got.Kinds)
	}
	if again := c.Stats(); again.Total.HitsMemory != 2 {
		t.Errorf("asked again: %+v", again.Total)
	}
}

func TestWithoutADirectoryAndWithoutMemoryNothingIsSaidToBeKept(t *testing.T) {
	_, o, warned := others(t, 0o775)
	o.Values["memory_size"] = "0"
	c := open(t, o)
	k := testKey(t, "a", t.Name())
	c.Put(k, []byte("x"), "", false)
	if got, why := get(t, c, k); got != "" || why != store.NoDirectory {
		t.Errorf("got %q, %v", got, why)
	}
	if strings.Contains(*warned, "in memory") || !strings.Contains(*warned, "no result is kept") {
		t.Errorf("warned of %q", *warned)
	}
}

// The command that a warning names mends the directory.
func TestCommandOfTheWarningMendsTheDirectory(t *testing.T) {
	command := regexp.MustCompile(`chmod [ugo]+-w \S+`)
	for _, mode := range writable {
		_, o, warned := others(t, mode)
		open(t, o)
		chmod := command.FindString(strings.ReplaceAll(*warned, ";", " "))
		if err := exec.Command("sh", "-c", chmod).Run(); chmod == "" || err != nil {
			t.Fatalf("%o: %q: %v", mode, *warned, err)
		}
		if s, refused := open(t, o).Store(); s == nil {
			t.Errorf("%o: after %s: %v", mode, chmod, refused)
		}
	}
}

func TestVariableOfTheWarningMendsTheDirectoryOfAGroup(t *testing.T) {
	_, o, warned := others(t, 0o775)
	open(t, o)
	if !strings.Contains(*warned, "JITCACHE_SHARED=1") {
		t.Errorf("warned of %q", *warned)
	}
	o.Env = env{"JITCACHE_SHARED": "1"}.get
	if s, refused := open(t, o).Store(); s == nil {
		t.Error(refused)
	}
	// Anybody may write it, so no consent can help.
	_, o, _ = others(t, 0o777)
	o.Env = env{"JITCACHE_SHARED": "1"}.get
	if s, _ := open(t, o).Store(); s != nil {
		t.Error("used")
	}
}
