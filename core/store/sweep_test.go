// What dead processes have left is removed, and nothing else.

package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"jitcache/core/lockfile"
)

func TestSweepRemovesWhatTheDeadLeft(t *testing.T) {
	s := open(t)
	me := s.tempName()
	dead := "5b92ecf2-1-1-1.1"
	deadHere := lockfile.Self().String() + "9.1" // another start time: that process is gone
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, f := range []string{"tmp/" + me, "tmp/" + deadHere, "tmp/" + dead, "tmp/stray", "open/" + me, "open/" + deadHere} {
		os.WriteFile(filepath.Join(s.v1, f), nil, 0o600)
	}
	os.Mkdir(filepath.Join(s.v1, "tmp", deadHere+"dir"), 0o700)
	lock := lockPath(s, "idle")
	os.WriteFile(lock, nil, 0o600)
	os.Chtimes(lock, old, old)
	held, err := s.TryLock("held", nil)
	if held == nil {
		t.Fatal(err)
	}
	defer held.Unlock()
	os.Chtimes(lockPath(s, "held"), old, old)
	if _, err := s.Trim(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[string]bool{
		"tmp/" + me: true, "tmp/" + deadHere: false, "tmp/" + deadHere + "dir": false,
		// Of another machine and young: its owner may be at work.
		"tmp/" + dead: true, "tmp/stray": true,
		"open/" + me: true, "open/" + deadHere: false,
		"locks/idle.jclock": false, "locks/held.jclock": true,
	} {
		if _, err := os.Lstat(filepath.Join(s.v1, f)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", f, err, want)
		}
	}
}
