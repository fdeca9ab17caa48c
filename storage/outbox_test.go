// What waits in an outbox is sent, and when a helper stops trying.

package storage

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
	"jitcache/storage/engine"
)

func lockThread() { runtime.LockOSThread() }

// resident returns the memory that this process has had at most.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return n << 10
}

func flush(t *testing.T, socket, outbox string, wait time.Duration) byte {
	t.Helper()
	request := wire.AppendValue([]byte{wire.Flush}, []byte(outbox))
	status, err := ask(t, dial(t, socket), append(wire.AppendSize(request, uint64(wait/time.Millisecond)), 0))
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func files(t *testing.T, dir string) int {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestWhatWaitsInAnOutboxIsSentWhole(t *testing.T) {
	socket, e, _ := serving(t, 0)
	root, outbox, ids := directory(t, "one", "two", strings.Repeat("three", 10000))
	mark(t, outbox, ids[1].String()+sending) // a helper was killed when it sent this
	if status := flush(t, socket, outbox, 10*time.Second); status != wire.OK || files(t, outbox) != 0 {
		t.Fatalf("status %d, %d files", status, files(t, outbox))
	}
	for _, id := range ids {
		text := id.String()
		want, err := os.ReadFile(root + "/v1/entries/" + text[:2] + "/" + text[2:] + ".jce")
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(e.values[text], 1<<20)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, %v", text[:8], len(got), err)
		}
		if back, err := get(t, dial(t, socket), "jitcache/1/team/"+text); err != nil || back != string(want) {
			t.Errorf("%s: %d bytes, %v", text[:8], len(back), err)
		}
	}
}

//jitcache:control nooutbox
func TestWhatCannotBeSentWaitsAndIsSentLater(t *testing.T) {
	socket, e, _ := serving(t, 0)
	_, outbox, _ := directory(t, "one", "two")
	e.fails(errors.New("connection refused"))
	if status := flush(t, socket, outbox, 300*time.Millisecond); status != wire.Noop || files(t, outbox) != 2 {
		t.Errorf("status %d, %d files", status, files(t, outbox))
	}
	e.fails(nil)
	if status := flush(t, socket, outbox, 20*time.Second); status != wire.OK || files(t, outbox) != 0 || len(e.values) != 2 {
		t.Errorf("status %d, %d files, %d values", status, files(t, outbox), len(e.values))
	}
}

//jitcache:control nooutbox
func TestHelperOfADeadRemoteDoesNotWaitForEver(t *testing.T) {
	const patience = 500 * time.Millisecond
	socket, e, ended := serving(t, 200*time.Millisecond, func(s *Server) { s.patience = patience })
	_, outbox, _ := directory(t, "one")
	e.fails(errors.New("connection refused"))
	began := time.Now()
	flush(t, socket, outbox, 100*time.Millisecond)
	select {
	case why := <-ended:
		if took := time.Since(began); why != "idle" || took < patience {
			t.Errorf("%s after %v", why, took)
		}
	case <-time.After(10 * time.Second):
		t.Error("it has not ended")
	}
	if files(t, outbox) != 1 {
		t.Error("what waits is lost")
	}
}

//jitcache:control staysforclaims
func TestHelperOfARemoteThatTakesNoClaimBackDoesNotWaitForEver(t *testing.T) {
	for name, err := range map[string]error{"dead": errors.New("connection refused"), "read-only": engine.ErrRefused} {
		t.Run(name, func(t *testing.T) {
			const patience = 500 * time.Millisecond
			socket, e, ended := serving(t, 200*time.Millisecond, func(s *Server) { s.patience, s.beat = patience, 50*time.Millisecond })
			c := dial(t, socket)
			if got := turn(t, c, 0, false); got != wire.Mine {
				t.Fatal(got)
			}
			e.fails(err)
			began := time.Now()
			c.Close()
			select {
			case why := <-ended:
				if took := time.Since(began); why != "idle" || took < patience {
					t.Errorf("%s after %v", why, took)
				}
			case <-time.After(20 * time.Second):
				t.Error("it has not ended")
			}
		})
	}
}

func TestWhatIsNotGoodAnyMoreIsNotSent(t *testing.T) {
	socket, e, _ := serving(t, 0)
	root, outbox, ids := directory(t, "evicted", "damaged", "good")
	path := func(i int) string {
		return root + "/v1/entries/" + ids[i].String()[:2] + "/" + ids[i].String()[2:] + ".jce"
	}
	os.Remove(path(0))
	os.WriteFile(path(1), []byte("damaged"), 0o600)
	if status := flush(t, socket, outbox, 10*time.Second); status != wire.OK || len(e.values) != 1 {
		t.Errorf("status %d, %d values", status, len(e.values))
	}
}

func TestPathThatIsNoOutboxIsIgnored(t *testing.T) {
	socket, e, _ := serving(t, 0)
	root, outbox, _ := directory(t, "one")
	for _, path := range []string{"", "/", "relative/v1/outbox/0123456789abcdef.team", outbox + "/", outbox + "/..", root + "/v1/outbox/../../v1/outbox/0123456789abcdef.team", strings.Replace(outbox, "team", "te am", 1)} {
		flush(t, socket, path, time.Second)
	}
	if len(e.values) != 0 {
		t.Errorf("%d values", len(e.values))
	}
}

// Programs with other settings of their environment have another helper, for one directory. That
// may be late, or die: what it sends is sent from here, too.
//
//jitcache:control ownsends
func TestFlushIsNotDoneWithWhatAnotherHelperSends(t *testing.T) {
	texts := []string{"last"}
	for n := range atATime {
		texts = append(texts, strconv.Itoa(n))
	}
	_, outbox, ids := directory(t, texts...)
	slices.SortFunc(ids, func(a, b key.ID) int { return strings.Compare(a.String(), b.String()) })
	last := ids[atATime].String()
	shared := &inMemory{values: map[string][]byte{}}
	theirs, ours := &gate{shared, last, make(chan bool)}, &gate{shared, "", make(chan bool)}
	other, _, _ := serving(t, 0, on(theirs))
	own, _, _ := serving(t, 0, on(ours))
	came := make(chan byte)
	go func() { came <- flush(t, own, outbox, 20*time.Second) }()
	for !exists(outbox + "/" + ids[atATime-1].String() + sending) { // it has read what there is, and sends the first
		time.Sleep(time.Millisecond)
	}
	go func() { came <- flush(t, other, outbox, 20*time.Second) }()
	for !exists(outbox + "/" + last + sending) {
		time.Sleep(time.Millisecond)
	}
	close(ours.open)
	if status := <-came; status != wire.OK || !slices.Contains(left(shared), last) {
		t.Errorf("status %d, %d of %d are sent", status, len(left(shared)), len(ids))
	}
	close(theirs.open)
	<-came
}
