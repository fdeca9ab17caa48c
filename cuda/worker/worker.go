// Worker: a process that has loaded an NVRTC.

package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/proc"
	"jitcache/core/request"
	"jitcache/observe"
	"jitcache/record"
)

// given are the variables that the process itself gets, for its loader. NVRTC has to ask
// for all others by name. PATH is not among them, because nothing in the process needs it,
// and neither is LD_PRELOAD, whose libraries are meant for the host.
var given = []string{"LD_LIBRARY_PATH"}

// ErrUnobserved is returned if no process can be started or observed.
var ErrUnobserved = errors.New("worker: NVRTC cannot be observed here")

// Gone is the error of a worker that ended before it answered.
type Gone struct {
	Status  syscall.WaitStatus
	Loading bool // it had not loaded NVRTC yet
	Killed  bool // somebody killed it; it did not fail by itself
}

func (g *Gone) Error() string {
	how := "has gone"
	switch {
	case g.Status.Signaled():
		how = fmt.Sprintf("was ended by signal %d", g.Status.Signal())
	case g.Status.Exited():
		how = fmt.Sprintf("has ended with status %d", g.Status.ExitStatus())
	}
	if g.Loading {
		return "worker: the process that loads NVRTC " + how
	}
	return "worker: the process that NVRTC runs in " + how
}

// NotLoaded is the error for an NVRTC that the loader cannot load.
type NotLoaded struct{ Why string }

func (e *NotLoaded) Error() string { return e.Why }

// Work is a program to compile, with the folder and the environment to compile it in.
type Work struct {
	Source, Name         string
	Headers              []Header
	Expressions, Options []string
	Target               string // "CUBIN", "PTX", "LTOIR"
	Env                  []string
	Dir                  string // the folder to work in, absolute
	Shown                bool   // NVRTC gets the name of Dir, and the result depends on it
	Precompiles          bool   // NVRTC precompiles the headers, and uses that for later programs
}

// Header is a header in memory.
type Header struct{ Name, Text string }

// Worker is a process that has loaded an NVRTC, or is loading it. Only one goroutine at a
// time may use it.
type Worker struct {
	Major, Minor int // of NVRTC, once it is Ready
	// Folder is the worker's own, for precompiled headers; "" if it has none.
	Folder string

	remove  func() // removes Folder
	run     *observe.Run
	channel int
	nvrtc   string
	ready   bool
	answer  *answer
	slot    *slot
	kind    kind
	locks   Locks

	asked   []string        // the variables that NVRTC has asked for
	startup map[string]bool // names that were looked at before the first program, and loaded libraries
	history *record.List    // what was looked at so far, and must not have changed
	since   time.Time       // when it became idle
}

// programPath returns the path of jitcache-nvrtc, which is beside the tracer.
func programPath() string {
	if observe.Tracer == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(observe.Tracer), "jitcache-nvrtc")
}

// startWorker starts a process that loads an NVRTC. folder is its own, or "".
func startWorker(nvrtc, dir, folder string, env []string) (*Worker, error) {
	path := programPath()
	if path == "" || unix.Access(path, unix.X_OK) != nil {
		return nil, ErrUnobserved
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("worker: no channel: %w", err)
	}
	for i := range pair {
		// A host may have closed its standard descriptors; do not use their numbers.
		if pair[i] > 2 {
			continue
		}
		if fd, err := unix.FcntlInt(uintptr(pair[i]), unix.F_DUPFD_CLOEXEC, 3); err == nil {
			unix.Close(pair[i])
			pair[i] = fd
		}
	}
	defer unix.Close(pair[1])
	run, err := observe.Start(&observe.Command{
		Args: []string{path, strconv.Itoa(pair[1]), nvrtc, folder}, Dir: dir, Env: only(env, given), Stdin: -1, Channel: pair[1],
	})
	if err != nil {
		unix.Close(pair[0])
		return nil, errors.Join(ErrUnobserved, err)
	}
	w := &Worker{Folder: folder, run: run, channel: pair[0], nvrtc: nvrtc}
	m := newMessage()
	for _, v := range env {
		m.addText(partVariable, v)
	}
	w.sendMessage(m)
	return w, nil
}

// only returns the variables of env that have one of the names.
func only(env, names []string) []string {
	var kept []string
	for _, e := range env {
		for _, name := range names {
			if len(e) > len(name) && e[len(name)] == '=' && e[:len(name)] == name {
				kept = append(kept, e)
			}
		}
	}
	return kept
}

// sendMessage sends a message. Wait notices if the worker has gone.
func (w *Worker) sendMessage(m message) {
	w.answer = &answer{}
	m.send(w.channel)
}

// Compile sends a program to the worker, which must be ready. Wait returns the answer.
func (w *Worker) Compile(p *Work) {
	m := newMessage()
	for _, v := range p.Env {
		m.addText(partVariable, v)
	}
	if p.Shown {
		m.addText(partShown, "")
	}
	m.addField(partUmask, binary.LittleEndian.AppendUint32(nil, umask()))
	m.addText(partName, p.Name)
	m.addText(partSource, p.Source)
	for _, h := range p.Headers {
		m.addText(partHeader, h.Name)
		m.addText(partText, h.Text)
	}
	for _, o := range p.Options {
		m.addText(partOption, o)
	}
	for _, e := range p.Expressions {
		m.addText(partExpression, e)
	}
	m.addText(partTarget, p.Target)
	w.sendMessage(m)
}

// umask returns the host's umask. It reads /proc, because umask(2) would change it.
func umask() uint32 {
	said, _ := proc.Read("/proc/self/status", 16<<10)
	_, rest, _ := strings.Cut(string(said), "\nUmask:\t")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(line, 8, 32)
	if err != nil { // before Linux 4.7
		return 0o022
	}
	return uint32(mask)
}

// Wait waits for the answer for at most d. It returns nil if there is none yet. The first
// answer says that NVRTC is loaded. The error is a *Gone, a *NotLoaded, ErrUnobserved, or
// says that the answer is malformed; after an error the caller must end the worker.
func (w *Worker) Wait(d time.Duration) (*Answer, error) {
	deadline := time.Now().Add(d)
	for {
		left := time.Until(deadline)
		fds := []unix.PollFd{{Fd: int32(w.channel), Events: unix.POLLIN}, {Fd: int32(w.run.Done()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(left, 0)/time.Millisecond))
		if err != nil && err != unix.EINTR {
			return nil, err
		}
		if n > 0 && fds[0].Revents != 0 {
			whole, err := w.answer.readFrom(w.channel)
			if err == errAnswer {
				return nil, err
			}
			if err != nil {
				return nil, w.gone()
			}
			if whole {
				return w.takeAnswer()
			}
		} else if n > 0 {
			return nil, w.gone()
		}
		if left <= 0 {
			return nil, nil
		}
	}
}

// gone returns how the worker ended.
func (w *Worker) gone() error {
	g := &Gone{Loading: !w.ready}
	if w.run.Wait(time.Second) {
		if rep, err := w.run.Report(); err == nil {
			g.Status = rep.Status
			if rep.Unobserved {
				return ErrUnobserved
			}
		} else {
			g.Killed = true // there is no report: the tracer was killed
		}
	}
	g.Killed = g.Killed || g.Status.Signaled() && g.Status.Signal() == syscall.SIGKILL
	return g
}

func (w *Worker) takeAnswer() (*Answer, error) {
	a, err := w.answer.parseAnswer()
	w.answer = nil
	if err != nil {
		return nil, err
	}
	w.asked = a.asked
	if w.ready {
		for _, path := range a.mapped {
			w.startup[path] = path != w.nvrtc
		}
		return a, nil
	}
	if a.Call != "" {
		return nil, &NotLoaded{a.Why}
	}
	rep, err := w.run.Round()
	if err != nil {
		return nil, err
	}
	if rep == nil {
		return nil, ErrUnobserved
	}
	w.startup = make(map[string]bool, len(rep.Names))
	for i := range rep.Names {
		w.startup[rep.Names[i].Path] = rep.Names[i].Path != w.nvrtc
	}
	w.ready, w.Major, w.Minor = true, a.major, a.minor
	return a, nil
}

// Ready reports whether NVRTC has been loaded.
func (w *Worker) Ready() bool { return w.ready }

// Record makes the list of all that the worker has looked at since it began, for the
// program that it answered last. The error may be a *request.Refused; then the worker
// cannot be used again.
func (w *Worker) Record(p *Work, notes record.Notes) (*record.List, *observe.Report, error) {
	w.history = nil
	rep, err := w.run.Round()
	if err != nil || rep == nil {
		return nil, nil, errors.Join(errAnswer, err)
	}
	if len(rep.Out)+len(rep.Err) > 0 {
		return nil, rep, request.Refuse("nvrtc", "prints something")
	}
	r := record.Run{
		Report: rep, Dir: p.Dir, Env: p.Env, Private: w.Folder, Notes: notes,
		Compiler: &record.Compiler{Asked: append(slices.Clone(given), w.asked...), Startup: w.startup},
	}
	list, err := r.Take()
	if err != nil {
		return nil, rep, err
	}
	w.history = list.Clone() // the list goes to the cache, on another thread than the next Get
	return list, rep, nil
}

// fitsNow reports whether all that the worker has looked at is certainly unchanged. The worker
// may not look at it again, so what it remembers must still be true.
func (w *Worker) fitsNow(now *record.Surroundings) bool {
	return !checkWorker || w.history != nil && w.history.Settled(now)
}

// End ends the process.
func (w *Worker) End() {
	w.run.Cancel()
	if w.channel >= 0 {
		unix.Close(w.channel)
		w.channel = -1
	}
	if w.remove != nil {
		w.remove()
		w.remove = nil
	}
	w.slot.releaseSlot()
	w.slot = nil
}
