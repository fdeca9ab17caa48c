// Writes what became of each command as a line of JSON.

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

// The events of a launched command. Each command has one, or two: a miss, and how the run
// ended. The second is missing if the observer was killed or could not observe the command.
const (
	hit     = "hit"      // the result was put in place
	missed  = "miss"     // the command is run and observed
	kept    = "kept"     // it has run, and the next time is a hit
	notKept = "not kept" // it has run, and has failed or cannot be kept
	ranOnly = "plain"    // it is run without the observer
)

// event is a line of JSON: docs/launcher.md, "What became of each command".
type event struct {
	Event   string   `json:"event"`
	Command []string `json:"command"`
	Folder  string   `json:"folder"`
	Process int      `json:"process"`
	Key     string   `json:"key,omitempty"` // of the entry
	Why     string   `json:"why,omitempty"`
	// Status is the exit status of a command that has failed, or 128 and the signal, as a shell
	// has it.
	Status int `json:"status,omitempty"`
	// Seconds is how long a replay took since the launcher's start, or how long the command ran.
	Seconds *float64 `json:"seconds,omitempty"`
}

// teller writes events to where Options.Tell says. A nil teller writes none.
type teller struct {
	to    string
	event event
	since time.Time
}

// newTeller makes a teller. process becomes the command, and since is when it began.
func (o *Options) newTeller(words []string, process int, since time.Time) *teller {
	if o.Tell == "" {
		return nil
	}
	folder, _ := os.Getwd()
	return &teller{to: o.Tell, event: event{Command: words, Folder: folder, Process: process}, since: since}
}

// tell writes an event. id is nil if there is no entry.
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

// failed writes the event of a command that has failed.
func (t *teller) failed(ended syscall.WaitStatus) error {
	if t == nil {
		return nil
	}
	t.event.Status = ended.ExitStatus()
	why := fmt.Sprintf("the command failed with status %d", t.event.Status)
	if ended.Signaled() {
		t.event.Status = 128 + int(ended.Signal())
		why = fmt.Sprintf("the command was killed by a signal: %s", ended.Signal())
	}
	return t.tell(notKept, why, nil)
}

// say is tell for the launcher itself. If the event cannot be written, it prints why, and the
// command runs all the same.
func (t *teller) say(what, why string, id *key.ID) {
	if err := t.tell(what, why, id); err != nil {
		fmt.Fprintf(os.Stderr, "jitcache: -json: %s: %v\n", t.to, err)
	}
}

// addLine appends a line with one write, so that lines of several processes do not mix. The
// file may be a pipe, such as /dev/fd/3. A pipe that nobody reads is an error at once.
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
