package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// What is told of a launched command, if somebody asks. A command that is looked up comes to
// one line, or to two: a miss, and what became of it. Behind a miss there is no second one if
// the observer was killed, or could not observe the command.
const (
	hit     = "hit"      // what it came to before was put in place
	missed  = "miss"     // it is run, and observed
	kept    = "kept"     // it has run, and the next time is a hit
	notKept = "not kept" // it has run, and has failed or cannot be kept
	ranOnly = "plain"    // it is run without being observed
)

// event is a line of JSON: docs/launcher.md, "What became of each command".
type event struct {
	Event   string   `json:"event"`
	Command []string `json:"command"`
	Folder  string   `json:"folder"`
	Process int      `json:"process"`
	Key     string   `json:"key,omitempty"` // of the entry
	Why     string   `json:"why,omitempty"`
	// Status is how a command that has failed has ended, as a shell says it: 128 and the signal.
	Status int `json:"status,omitempty"`
	// Seconds is how long a replay took from the launcher's start on, or the command's run.
	Seconds *float64 `json:"seconds,omitempty"`
}

// teller writes events where Options.Tell says; nil: nobody asks.
type teller struct {
	to    string
	event event
	since time.Time
}

// newTeller starts the time. process is that which becomes the command.
func (o *Options) newTeller(words []string, process int, since time.Time) *teller {
	if o.Tell == "" {
		return nil
	}
	folder, _ := os.Getwd()
	return &teller{to: o.Tell, event: event{Command: words, Folder: folder, Process: process}, since: since}
}

// tell writes an event; id is nil where there is no entry.
func (t *teller) tell(what, why string, id *key.ID) error {
	if t == nil {
		return nil
	}
	e := t.event
	e.Event, e.Why = what, why
	if id != nil {
		e.Key = id.String()
	}
	if what == hit || what == kept || what == notKept {
		seconds := time.Since(t.since).Round(time.Microsecond).Seconds()
		e.Seconds = &seconds
	}
	var line bytes.Buffer
	to := json.NewEncoder(&line)
	to.SetEscapeHTML(false)
	if err := to.Encode(&e); err != nil {
		return err
	}
	if t.to == ToErrors {
		_, err := writeAll(2, line.Bytes())
		return err
	}
	return addLine(t.to, line.Bytes())
}

// failed tells of a command that has ended so.
func (t *teller) failed(ended syscall.WaitStatus) error {
	if t == nil {
		return nil
	}
	t.event.Status = ended.ExitStatus()
	why := fmt.Sprintf("it has failed, with status %d", t.event.Status)
	if ended.Signaled() {
		t.event.Status = 128 + int(ended.Signal())
		why = fmt.Sprintf("it was killed by a signal: %s", ended.Signal())
	}
	return t.tell(notKept, why, nil)
}

// say is tell, for the launcher itself: that nothing can be written there is said, and the
// command runs all the same.
func (t *teller) say(what, why string, id *key.ID) {
	if err := t.tell(what, why, id); err != nil {
		fmt.Fprintf(os.Stderr, "jitcache: -json: %s: %v\n", t.to, err)
	}
}

// addLine appends a line with one write, so that those of many processes do not mix. The file
// may be a pipe, as /dev/fd/3: one that nobody reads is an error, and not waited for.
func addLine(path string, line []byte) error {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_CLOEXEC | unix.O_NOCTTY
	fd, err := unix.Open(path, flags|unix.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND); err != nil {
		return err
	}
	_, err = writeAll(fd, line)
	return err
}
