package observe

import (
	"errors"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Files are the descriptors of what a run comes to: its report, and what was
// printed.
type Files struct{ Report, Out, Err int }

// Front says what a process does that becomes a command.
type Front struct {
	// Lock is a descriptor that stays open until the result is kept, and is then
	// closed, and LockName the name of its file, which is removed before; -1: none.
	Lock     int
	LockName string
	// Claim is a descriptor that is closed then, too, and that the program has which keeps
	// the result; 0: none.
	Claim int
	// Keep returns the words of a program that takes what the command has come to.
	// It is run when the command has ended well, with the descriptors of the files.
	Keep func(Files) []string
	// Failures has it run when the command has failed, too.
	Failures bool
}

// ErrNoTracer is returned by Become where there is no tracer.
var ErrNoTracer = errors.New("observe: there is no " + TracerName)

// Become runs a command, observed, in place of this process: what starts it, stops
// it and waits for it has to do with the command. It returns only if that cannot be.
// Descriptors, dispositions of signals and the folder are this process's.
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
	defer setCloseOnExec(passed, unix.FD_CLOEXEC) // else what runs in place of the observer would have them
	if err := setCloseOnExec(passed, 0); err != nil {
		return err
	}
	words := []string{TracerName, strconv.Itoa(request), strconv.Itoa(f.Lock), f.LockName, strconv.Itoa(f.Claim)}
	return unix.Exec(Tracer, append(words, f.Keep(files)...), os.Environ())
}

// setCloseOnExec sets the flags of descriptors that are there.
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

// ReadReport reads what a run has come to.
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
