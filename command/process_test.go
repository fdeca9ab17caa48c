// The environment, limits and umask that a request gives its command.

package command

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// given is a request whose command prints what it is given, with another process's limit and umask.
func given(t *testing.T, variable, umask string) *Spec {
	var stack unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &stack); err != nil {
		t.Fatal(err)
	}
	s := shell(`echo "$GIVEN $(ulimit -s) $(umask) $HOME" > .out`)
	s.Variables = []string{"PATH=/usr/bin:/bin", "GIVEN=" + variable}
	s.Limits = []string{strings.Join([]string{strconv.Itoa(unix.RLIMIT_STACK), "7168000", strconv.FormatUint(stack.Max, 10)}, " ")}
	s.Umask = umask
	return s
}

//jitcache:control noagreed
//jitcache:control noagreedlimits
func TestCommandGetsWhatItsRequestGives(t *testing.T) {
	for _, cached := range []bool{true, false} {
		c := open(t, filepath.Join(t.TempDir(), "cache"))
		if !cached {
			c = nil
		}
		if got := string(do(t, c, given(t, "one", "27")).Blob.Data()); got != "one 7000 0027 \n" {
			t.Errorf("cached: %v: %q", cached, got)
		}
	}
}

func TestWhatARequestGivesCounts(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	for i, s := range []*Spec{given(t, "one", "22"), given(t, "one", "22"), given(t, "two", "22"), given(t, "two", "77"), given(t, "two", "77")} {
		if hit := i == 1 || i == 4; do(t, c, s).Hit != hit {
			t.Errorf("%d: a hit is %v", i, !hit)
		}
	}
}

// processKey is the key that ranks compare.
func processKey(t *testing.T, s *Spec) string {
	c := open(t, filepath.Join(t.TempDir(), "cache"))
	j, err := New(c, s, nil, Want{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	k, err := j.ProcessKey()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", k.ID)
}

//jitcache:control noumask
func TestProcessesOfOneKeyAreGivenTheSame(t *testing.T) {
	same := processKey(t, given(t, "one", "22"))
	if processKey(t, given(t, "one", "22")) != same {
		t.Error("a key differs although nothing does")
	}
	limited := given(t, "one", "22")
	limited.Limits = nil
	for what, s := range map[string]*Spec{"variable": given(t, "two", "22"), "umask": given(t, "one", "77"), "limit": limited} {
		if processKey(t, s) == same {
			t.Errorf("another %s makes no other key", what)
		}
	}
}

func TestBadEnvironmentsAndLimitsAreErrors(t *testing.T) {
	for _, s := range []*Spec{{Environment: []string{"A"}}, {Limits: []string{"3 x"}}, {Limits: []string{"99 1 1"}}, {Umask: "8"}, {Umask: "7777"}} {
		s.Args, s.Output, s.Kind = []string{"true"}, ".out", "native"
		if _, err := New(nil, s, nil, Want{}); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
