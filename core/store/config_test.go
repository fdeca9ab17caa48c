// Settings of a directory that several processes change.

package store

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// settingsEach is how many settings each process of the test adds.
const settingsEach = 60

// TestMain is also the process that adds settings.
func TestMain(m *testing.M) {
	root := os.Getenv("STORE_TEST_CONFIG")
	if root == "" {
		os.Exit(m.Run())
	}
	first, _ := strconv.Atoi(os.Getenv("STORE_TEST_FIRST"))
	s, err := Open(Options{Directory: root})
	for i := 0; err == nil && i < settingsEach; i++ {
		err = s.Configure(func(c *Config) { c.other = append(c.other, fmt.Sprintf("later-%d = yes", first+i)) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A cap that `jitcache config` has set must not be lost because a program raises it, or
// because somebody sets something else.
//
//jitcache:control noconfiglock
func TestSettingsThatProcessesChangeAtTheSameTimeAreAllKept(t *testing.T) {
	const processes = 4
	root := open(t).Root()
	var others []*exec.Cmd
	for i := range processes {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "STORE_TEST_CONFIG="+root, fmt.Sprint("STORE_TEST_FIRST=", i*settingsEach))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, c)
	}
	for _, c := range others {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(root + "/v1/config")
	for n := range processes * settingsEach {
		if !strings.Contains(string(text), fmt.Sprintf("later-%d = yes\n", n)) {
			t.Errorf("setting %d is lost", n)
		}
	}
}

// A Store that has been open for long changes what the file has now.
func TestSettingThatAnotherHasChangedSinceIsKept(t *testing.T) {
	s := open(t)
	os.WriteFile(s.v1+"/config", []byte("max-size = 7Gi\nshared = true\nlater = yes\n"), 0o600)
	if err := s.Configure(func(c *Config) { c.Shared = false }); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir(s.Root()))
	if c := again.Config(); c.MaxSize != 7<<30 || c.Shared || len(c.other) != 1 {
		t.Errorf("%+v", c)
	}
}

// A process that is stopped while it holds the lock keeps nobody from changing settings.
func TestLockOfSettingsThatIsHeldIsWaitedForForASecond(t *testing.T) {
	s := open(t)
	lock, err := s.TryLock("config", nil)
	if lock == nil || err != nil {
		t.Fatal(lock, err)
	}
	defer lock.Unlock()
	other := open(t, dir(s.Root()))
	if err := other.Configure(func(c *Config) { c.MaxSize = 9 }); err != nil || other.Config().MaxSize != 9 {
		t.Errorf("%v, %+v", err, other.Config())
	}
}
