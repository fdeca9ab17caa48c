// Become: this process becomes the tracer, and the command its child.

package observe

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Files are the descriptors of the files in which a run ends: its report, and what it has
// printed.
type Files struct{ Report, Out, Err int }

// Front says what a process does beside being the command that it becomes.
type Front struct {
	// Lock is a descriptor that stays open until the result is kept; then its file, LockName,
	// is removed, and it is closed. -1: none.
	Lock     int
	LockName string
	// Claim is a descriptor that is closed at the same time. The program that keeps the result
	// inherits it. 0: none.
	Claim int
	// Keep returns the words of the program that keeps the result. It runs when the command
	// has ended well, and inherits the descriptors of the files.
	Keep func(Files) []string
	// Failures says to run it when the command has failed, too.
	Failures bool
}

// ErrNoTracer is returned by Become where there is no tracer.
var ErrNoTracer = errors.New("observe: there is no " + TracerName)

// Become runs a command, observed, in place of this process: whoever started this process
// now waits for the command and signals it. It returns only if that fails. The command has
// the descriptors, signal dispositions and folder of this process.
func (c *Command) Become(f *Front) error {
	if Tracer == "" {
		return ErrNoTracer
	}
	if err := c.check(); err != nil {
		return err
	}
	if !isUnlimited() {
		return errLimited
	}
	var files Files
	var err error
	for _, m := range []struct {
		name string
		fd   *int
	}{{"report", &files.Report}, {"output", &files.Out}, {"errors", &files.Err}} {
		if *m.fd, err = file(m.name); err != nil {
			return err
		}
	}
	for _, fd := range []int{files.Out, files.Err} {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND); err != nil {
			return err
		}
	}
	c.failures = f.Failures
	request, err := file("request")
	if err != nil {
		return err
	}
	if err := writeAll(request, c.request(files.Report, -1, files.Out, files.Err)); err != nil {
		return err
	}
	passed := []int{request, files.Report, files.Out, files.Err, f.Lock}
	if f.Claim > 0 {
		passed = append(passed, f.Claim)
	}
	defer setCloseOnExec(passed, unix.FD_CLOEXEC) // if exec fails, the command must not get them
	if err := setCloseOnExec(passed, 0); err != nil {
		return err
	}
	words := []string{TracerName, strconv.Itoa(request), strconv.Itoa(f.Lock), f.LockName, strconv.Itoa(f.Claim)}
	return unix.Exec(Tracer, append(words, f.Keep(files)...), withoutPreloads(os.Environ()))
}

// held begins the names of variables that the tracer must not obey, and gives to the program that keeps the result
// (tracer/front.h: JO_HELD). A library that waits for the tracer's tree, as fakeroot's does, would wait for ever in the tracer.
const held = "JITCACHE_HELD_"

func withoutPreloads(env []string) []string {
	for i, e := range env {
		if strings.HasPrefix(e, "LD_PRELOAD=") || strings.HasPrefix(e, "LD_AUDIT=") {
			env[i] = held + e
		}
	}
	return env
}

// setCloseOnExec sets the descriptor flags of those descriptors that are not negative.
func setCloseOnExec(fds []int, flags int) error {
	for _, fd := range fds {
		if fd >= 0 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadReport reads the report of a run.
func (f Files) ReadReport() (*Report, error) {
	data, err := readFile(f.Report, math.MaxInt)
	if err != nil {
		return nil, err
	}
	r, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if r.Out, err = readFile(f.Out, MaxOutput); err == nil {
		r.Err, err = readFile(f.Err, MaxOutput)
	}
	return r, err
}
