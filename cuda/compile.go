// Compiles a program in a worker, or in this process if no worker can.

package cuda

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/command"
	"jitcache/core/request"
	"jitcache/cuda/dl"
	"jitcache/cuda/nvrtc"
	"jitcache/cuda/worker"
	"jitcache/record"
)

// workers are the NVRTC workers of this process.
var workers worker.Pool

// EndIdleWorkers is for a process that ends. See worker.Pool.
func EndIdleWorkers() { workers.EndIdle() }

// compile is a program for NVRTC.
type compile struct {
	*parts
	source   string
	arch, sm string // the architecture in the options; that of the device if there is none
	nvrtc    dl.File
}

// Run starts the compile.
func (c *compile) Run(w *command.World) (command.Running, error) {
	r := &running{compile: c, world: w, began: time.Now()}
	dir, err := unix.Getwd()
	if err != nil || !filepath.IsAbs(dir) {
		r.unseen = "the working folder has no name"
	}
	if !w.Kept {
		r.unseen = "nothing is kept"
	}
	r.work = &worker.Work{
		Source: c.source, Name: c.name, Expressions: c.expressions, Target: targets[c.target], Dir: dir, Env: w.Env,
		Shown: showsFolder(c.target, c.options, w.Env), Precompiles: precompiles(c.options),
	}
	for _, h := range c.headers {
		r.work.Headers = append(r.work.Headers, worker.Header(h))
	}
	return r, nil
}

// targets are the targets' names in NVRTC's functions (nvrtcGetCUBIN).
var targets = map[nvrtc.Target]string{nvrtc.Cubin: "CUBIN", nvrtc.PTX: "PTX", nvrtc.LTOIR: "LTOIR"}

// more returns options to put before those of the request, which override them. They say
// what the request implies, and turn off NVRTC's own cache, which it keeps with the driver.
// NVRTC has this cache since 12.9; older versions do not know the option.
func (c *compile) more(major, minor int, observed bool) []string {
	var more []string
	if c.sm != "" {
		more = append(more, "--gpu-architecture="+c.sm)
	}
	if c.target == nvrtc.LTOIR {
		more = append(more, "--dlink-time-opt")
	}
	if observed && (major > 12 || major == 12 && minor >= 9) {
		more = append(more, "--no-cache")
	}
	if observed && precompiles(c.options) && precompilesSince(major, minor) {
		more = append(more, "--pch-messages=false") // they name a file that is not there at a hit
	}
	return more
}

// precompilesSince reports whether a version of NVRTC can precompile headers.
func precompilesSince(major, minor int) bool { return major > 12 || major == 12 && minor >= 8 }

// pchOptions returns options to put behind those of the request, which they override: a worker
// keeps precompiled headers in its own folder, and nobody else uses them.
func pchOptions(w *worker.Worker) []string {
	if w.Folder == "" || !precompilesSince(w.Major, w.Minor) {
		return nil
	}
	return []string{"--pch-dir=" + w.Folder}
}

// running is a compile in progress. It waits for a worker, then for the worker to load
// NVRTC, then for the answer.
type running struct {
	*compile
	world *command.World
	began time.Time
	work  *worker.Work

	unseen string // why the host's own NVRTC compiles, unobserved; "" if a worker does
	worker *worker.Worker
	asked  bool // the worker has the program
	again  bool // a worker that had the program was killed
	made   *command.Made
	err    error
}

// Wait goes on with the compile for at most d. It reports whether the compile has ended.
func (r *running) Wait(d time.Duration) bool {
	for deadline := time.Now().Add(d); ; {
		if r.made != nil || r.err != nil {
			return true
		}
		if r.unseen != "" {
			r.inHost()
			continue
		}
		left := max(time.Until(deadline), 0)
		if r.worker == nil {
			if !r.hire(left) && time.Now().After(deadline) {
				return false
			}
			continue
		}
		if r.worker.Ready() && !r.asked {
			r.work.Options = slices.Concat(r.more(r.worker.Major, r.worker.Minor, true), r.options, pchOptions(r.worker))
			r.worker.Compile(r.work)
			r.asked = true
		}
		answer, err := r.worker.Wait(left)
		switch {
		case err != nil:
			r.lost(err)
		case answer == nil:
			return false
		case r.asked:
			r.takeAnswer(answer)
		}
	}
}

const (
	slotFor  = 30 * time.Second     // how long to wait for a worker while there are too many
	slotLook = 5 * time.Millisecond // how often to look for one meanwhile
)

// hire gets a worker, or gives up on one. It returns false if there is none yet.
func (r *running) hire(most time.Duration) bool {
	r.work.Options = r.options // the pool chooses a worker by them
	w, err := workers.Get(&worker.Request{
		Work: r.work, NVRTC: r.nvrtc.Path, Locks: r.world.Lock, Folder: r.world.Folder, Now: &record.Surroundings{Dir: r.work.Dir, Env: r.work.Env},
	})
	switch {
	case err != nil:
		r.unseen = err.Error()
	case w != nil:
		r.worker = w
	case time.Since(r.began) > slotFor:
		r.unseen = "too many other compiles are running"
	default:
		time.Sleep(min(most, slotLook))
		return false
	}
	return true
}

// lost handles a worker that has ended before it answered. If the worker could not do its
// work, the host compiles, as it would without a cache. If NVRTC crashed, that is the error:
// it would take the host with it.
func (r *running) lost(err error) {
	r.worker.End()
	r.worker = nil
	var gone *worker.Gone
	var bad *worker.NotLoaded
	switch {
	case errors.Is(err, worker.ErrUnobserved):
		r.unseen = "it cannot be observed"
	case errors.As(err, &bad):
		// The host may have loaded it, or what it depends on, from elsewhere.
		r.leaveToHost("its own process cannot load it: "+bad.Why, libraryError{err})
	case errors.As(err, &gone) && gone.Killed && !r.again:
		r.again, r.asked = true, false // somebody killed it: try once more
	case errors.As(err, &gone) && (gone.Killed || gone.Loading && gone.Status.Exited()):
		r.leaveToHost(err.Error(), err)
	case errors.As(err, &gone) && gone.Loading:
		r.err = libraryError{fmt.Errorf("%s: %w", r.nvrtc.Path, err)}
	case errors.As(err, &gone):
		r.err = &nvrtc.Error{Call: "compile", Status: int(syscall.EIO), Text: err.Error()}
	default:
		r.leaveToHost(err.Error(), err)
	}
}

// leaveToHost has the host compile, because a worker could not.
func (r *running) leaveToHost(why string, err error) {
	if fallsBack {
		r.unseen = why
	} else {
		r.err = err
	}
}

// takeAnswer turns the answer of a worker into a result or an error.
func (r *running) takeAnswer(a *worker.Answer) {
	list, rep, err := r.worker.Record(r.work, r.world.Notes)
	if rep != nil {
		writeOut(rep.Out, rep.Err)
	}
	if failed := r.failure(a); failed != nil {
		if nvrtc.IsOfProcess(failed) {
			r.leaveToHost("it fails in its own process: "+failed.Error(), failed)
		} else {
			r.err = failed
		}
		r.endWorker(err == nil)
		return
	}
	code, lowered := a.Code, map[string]string{}
	for i, e := range r.expressions {
		if i < len(a.Lowered) {
			lowered[e] = a.Lowered[i]
		}
	}
	if r.target == nvrtc.PTX {
		code = code[:len(code)-1] // the NUL at its end
	}
	r.made = r.madeOf(code, a.Log, lowered, r.worker.Major, r.worker.Minor)
	if err == nil {
		err = r.timeless(list, rep)
	}
	if err == nil {
		r.made.List = list
	}
	r.made.Why = err
	var refused *request.Refused
	if err != nil && !errors.As(err, &refused) {
		r.made.Why = request.Refuse("nvrtc", "is not observed: "+err.Error())
	}
	r.endWorker(err == nil)
}

// endWorker gives the worker back to the pool if it is still usable, else ends it.
func (r *running) endWorker(usable bool) {
	if usable {
		workers.Put(r.worker)
	} else {
		r.worker.End()
	}
	r.worker = nil
}

// failure returns the error of a program that was not compiled, nil if it was.
func (r *running) failure(a *worker.Answer) error {
	switch {
	case a.Call == "" && len(a.Code) > 1:
		return nil
	case a.Call == "":
		return nvrtc.Empty(r.name, r.target, a.Log)
	}
	return nvrtc.Failure(r.name, a.Call, a.Status, a.Why, a.Log)
}

// writeOut writes what NVRTC has printed to the host's standard output and standard error.
func writeOut(out, err []byte) {
	writeTo(1, out)
	writeTo(2, err)
}

// writeTo writes a text, also to a descriptor that does not block.
func writeTo(fd int, text []byte) {
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		text = text[max(n, 0):]
		if err == unix.EAGAIN {
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		}
		if err != nil && err != unix.EINTR {
			return
		}
	}
}

// Made returns the result or the error, once Wait has returned true.
func (r *running) Made() (*command.Made, error) { return r.made, r.err }

// End gives the compile up.
func (r *running) End() {
	if r.worker != nil {
		r.worker.End()
		r.worker = nil
	}
}

// inHost compiles with NVRTC in the host, on the calling thread. Nobody observes what it
// looks at, so the result is not kept.
func (r *running) inHost() {
	compiler, err := compilerOf(r.parts.compiler)
	if err != nil {
		r.err = err
		return
	}
	major, minor := compiler.Version()
	result, err := compiler.Compile(&nvrtc.Program{
		Source: r.source, Name: r.name, Options: append(r.more(major, minor, false), r.options...), Headers: r.headers,
		Expressions: r.expressions, Target: r.target,
	})
	if err != nil {
		r.err = err
		return
	}
	defer result.Code.Release()
	r.made = r.madeOf(result.Code.Data(), result.Log, result.Lowered, major, minor)
	r.made.Why = request.Refuse("nvrtc", "is not observed: "+r.unseen)
	if r.world.Kept {
		r.world.Warn("nvrtc "+r.unseen, fmt.Sprintf("what NVRTC compiles is not kept: %s", r.unseen))
	}
}
