// Start: runs a command under the tracer as a child of another process.

package observe

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
#include <stdlib.h>
#include "spawn.h"
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Run is a command that was started. It is for one goroutine.
type Run struct {
	spawn  *C.jc_spawn // nil: nothing runs
	free   []unsafe.Pointer
	direct bool // without a tracer

	report, out, err, done, null int // descriptors, -1 if there is none
	rounds                       bool
	parser                       *parser // of rounds
	parsed                       int64   // bytes of the report
	printed                      [2]int64
	ended                        bool
	once                         sync.Once
}

// Start starts a command. It returns an error if no process can be started. If the program is
// not found, the report says so.
func Start(c *Command) (*Run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	room := hasRoom()
	if !room && c.Channel != 0 {
		return nil, errNoRoom // rounds need a tracer
	}
	r := &Run{direct: Tracer == "" || !room, report: -1, out: -1, err: -1, done: -1, null: -1}
	if err := r.start(c); err != nil {
		r.close()
		return nil, err
	}
	runtime.SetFinalizer(r, (*Run).Cancel)
	return r, nil
}

func (r *Run) start(c *Command) (err error) {
	for _, f := range []struct {
		name string
		fd   *int
	}{{"report", &r.report}, {"output", &r.out}, {"errors", &r.err}} {
		if *f.fd, err = file(f.name); err != nil {
			return err
		}
	}
	for _, fd := range []int{r.out, r.err} {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND); err != nil {
			return err
		}
	}
	pipe := []int{-1, -1}
	if err = unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		return err
	}
	for i := range pipe {
		if pipe[i], err = high(pipe[i]); err != nil {
			return err
		}
	}
	r.done = pipe[0]
	defer unix.Close(pipe[1])
	stdin := c.Stdin
	if stdin < 0 {
		if r.null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		stdin = r.null
	}
	s := r.newSpawn()
	limit(s, c.Limits)
	s.in, s.out, s.err, s.done, s.blocked = C.int(stdin), -1, -1, C.int(pipe[1]), C.uint64_t(blocked(c))
	s.ends = C.int(unix.SIGUSR2) // tracer/keeper.h
	if r.direct {
		s.ends = C.int(unix.SIGKILL)
	}
	if c.Inherit {
		s.inherit = 1
	}
	if r.direct {
		return r.spawnCommand(c)
	}
	return r.spawnTracer(c, pipe[1])
}

// spawnCommand starts the command itself.
func (r *Run) spawnCommand(c *Command) error {
	s := r.spawn
	s.program, s.folder = r.text(c.program()), r.text(c.Dir)
	s.arguments, s.variables = r.texts(c.Args), r.texts(c.Env)
	if !c.Pass {
		s.out, s.err = C.int(r.out), C.int(r.err)
	}
	s.descriptors[0] = -1
	return r.keep()
}

func (r *Run) spawnTracer(c *Command, done int) error {
	request, err := file("request")
	if err != nil {
		return err
	}
	defer unix.Close(request)
	if err := writeAll(request, c.request(r.report, done, r.out, r.err)); err != nil {
		return err
	}
	s := r.spawn
	s.program = r.text(Tracer)
	s.arguments, s.variables = r.texts([]string{TracerName, strconv.Itoa(request)}), r.texts(nil)
	descriptors := []int{request, r.report, done, r.out, r.err}
	if c.Channel != 0 {
		descriptors = append(descriptors, c.Channel)
		r.rounds = true
	}
	for i, fd := range append(descriptors, -1) {
		s.descriptors[i] = C.int(fd)
	}
	return r.keep()
}

// limit notes what limits the program is given.
func limit(s *C.jc_spawn, l *Limits) {
	s.umask = -1
	if l == nil {
		return
	}
	s.umask = C.int(max(l.Umask, -1))
	for which, limit := range l.Of {
		s.limited |= 1 << which
		s.limits[which] = [2]C.uint64_t{C.uint64_t(limit.Cur), C.uint64_t(limit.Max)}
	}
}

// ---- memory of C, which the keeper reads

func (r *Run) take(size int) unsafe.Pointer {
	p := C.calloc(1, C.size_t(size))
	r.free = append(r.free, p)
	return p
}

func (r *Run) newSpawn() *C.jc_spawn {
	r.spawn = (*C.jc_spawn)(r.take(int(unsafe.Sizeof(C.jc_spawn{}))))
	return r.spawn
}

func (r *Run) text(s string) *C.char {
	p := r.take(len(s) + 1)
	copy(unsafe.Slice((*byte)(p), len(s)), s)
	return (*C.char)(p)
}

func (r *Run) texts(words []string) **C.char {
	p := (**C.char)(r.take((len(words) + 1) * int(unsafe.Sizeof(uintptr(0)))))
	all := unsafe.Slice(p, len(words)+1)
	for i, w := range words {
		all[i] = r.text(w)
	}
	return p
}

func (r *Run) keep() error {
	if errno := C.jc_spawn_start(r.spawn); errno != 0 {
		r.spawn = nil
		return fmt.Errorf("observe: no process: %w", syscall.Errno(errno))
	}
	return nil
}

// ---- the end

// Marks in the pipe: of the tracer, when its report is whole, and of the keeper.
const (
	markWhole = 'd'
	markEnded = 'k'
)

// look is how often Wait checks whether the keeper lives. The end of the pipe alone does not
// tell: a process that the host has forked may hold it open.
const look = time.Second

// Wait waits until the command has ended, at most for d, and reports whether it
// has.
func (r *Run) Wait(d time.Duration) bool {
	if r.ended || r.spawn == nil {
		return true
	}
	deadline := time.Now().Add(d)
	for {
		left := time.Until(deadline)
		fds := []unix.PollFd{{Fd: int32(r.done), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(min(max(left, 0), look)/time.Millisecond))
		if n > 0 || err != nil && err != unix.EINTR || n == 0 && C.jc_spawn_gone(r.spawn) != 0 {
			r.ended = true
			return true
		}
		if left <= 0 {
			return false
		}
	}
}

// Report waits for the end of the run, and returns what was seen.
func (r *Run) Report() (*Report, error) {
	for !r.Wait(time.Hour) {
	}
	if r.spawn == nil {
		return nil, errOver
	}
	mark := r.mark()
	C.jc_spawn_wait(r.spawn)
	status := r.spawn.status
	r.spawn = nil
	defer r.close()
	rep := &Report{Unobserved: true}
	var err error
	switch {
	case r.direct && mark == markEnded:
		rep.Status = syscall.WaitStatus(status)
	case !r.direct && mark == markWhole:
		var data []byte
		if data, err = readFile(r.report, math.MaxInt); err != nil {
			return nil, err
		}
		if rep, err = r.parse(data); err != nil {
			return nil, err
		}
	default:
		return nil, errDied
	}
	if rep.Out, err = readFile(r.out, MaxOutput); err == nil {
		rep.Err, err = readFile(r.err, MaxOutput)
	}
	return rep, err
}

// mark reads the first mark, 0 if there is none.
func (r *Run) mark() byte {
	var mark [1]byte
	fds := []unix.PollFd{{Fd: int32(r.done), Events: unix.POLLIN}}
	if n, _ := unix.Poll(fds, 0); n > 0 {
		unix.Read(r.done, mark[:])
	}
	return mark[0]
}

// cancelled is how long Cancel waits for the processes that it has killed.
const cancelled = 2 * time.Second

// Cancel kills the command and its descendants, and waits for their end. They leave no process
// that process 1 would have to wait for. Daemons of a command that runs unobserved live on.
// After Report, or a second time, Cancel does nothing.
func (r *Run) Cancel() {
	if r.spawn != nil {
		if endsInOrder {
			C.jc_spawn_end(r.spawn)
			r.awaitClose()
		}
		C.jc_spawn_kill(r.spawn) // if it has not ended
		C.jc_spawn_wait(r.spawn)
		r.awaitClose()
		r.spawn = nil
	}
	r.close()
}

// awaitClose waits until the keeper and the tracer have ended, which then hold the pipe no
// more.
func (r *Run) awaitClose() {
	for end := time.Now().Add(cancelled); time.Now().Before(end); {
		fds := []unix.PollFd{{Fd: int32(r.done)}}
		n, err := unix.Poll(fds, int(cancelled/time.Millisecond))
		if n > 0 && fds[0].Revents&unix.POLLHUP != 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

func (r *Run) close() {
	r.once.Do(func() {
		runtime.SetFinalizer(r, nil)
		for _, fd := range []int{r.report, r.out, r.err, r.done, r.null} {
			if fd >= 0 {
				unix.Close(fd)
			}
		}
		for _, p := range r.free {
			C.free(p)
		}
	})
}
