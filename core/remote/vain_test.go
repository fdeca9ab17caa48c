// Which waits for a remote are in vain.

package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"jitcache/core/wire"
)

// after answers each request for id after a while.
func after(d time.Duration, request int, answer ...byte) func(c net.Conn) {
	return func(c net.Conn) {
		c.Write([]byte{1, 3, 0, 1, 0xC0})
		for {
			if _, err := io.ReadFull(c, make([]byte, request+len("jitcache/1/team/")+64)); err != nil {
				return
			}
			time.Sleep(d)
			c.Write(answer)
		}
	}
}

//jitcache:control nolate
func TestTimeForWhichTheMachineStandsStillIsNotInVain(t *testing.T) {
	r := fresh(t)
	helperOf(t, r, after(600*time.Millisecond, 2, wire.Noop))
	// This process stands still for longer than its budget, and so does its helper.
	stops := exec.Command("sh", "-c", fmt.Sprintf("sleep 0.2; kill -STOP %d; sleep 1.5; kill -CONT %[1]d", os.Getpid()))
	if err := stops.Start(); err != nil {
		t.Fatal(err)
	}
	_, took, err := get(r)
	stops.Wait()
	if !errors.Is(err, ErrAbsent) || took < 1500*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
	if left := Spent.Left(); left < 100*time.Millisecond || left > 950*time.Millisecond {
		t.Errorf("%v are left of the budget", left)
	}
}

//jitcache:control allvain
func TestWaitingForAMachineThatLivesIsNotInVain(t *testing.T) {
	r := fresh(t)
	helperOf(t, r, after(100*time.Millisecond, 2, wire.Noop))
	Spent.Vain(2 * time.Second)
	if _, err := r.Get(&id, nil, false); err != ErrSpent {
		t.Errorf("the budget is spent: %v", err)
	}
	for range 3 {
		if lost, err := r.Get(&id, nil, true); !errors.Is(err, ErrAbsent) || lost != 0 {
			t.Errorf("%v, %v", lost, err)
		}
	}
	if left := Spent.Left(); left < -1100*time.Millisecond {
		t.Errorf("%v are left", left)
	}
	other := fresh(t)
	helperOf(t, other, after(100*time.Millisecond, 2+9, wire.OK, wire.Theirs))
	Spent.Vain(2 * time.Second)
	if _, turn := other.Claim(&id, 0, true, false); turn != Nobodys {
		t.Errorf("the budget is spent: %v", turn)
	}
	if _, turn := other.Claim(&id, 0, true, true); turn != Theirs {
		t.Errorf("%v", turn)
	}
}
