// Pool: workers that are idle, and which program each may compile.

package worker

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/record"
)

// idleFor is how long a worker waits for its next program. Programs that compile while
// they run do so in bursts, and another worker takes 60 ms.
const idleFor = 10 * time.Second

// Pool keeps workers that are idle. It may be used from any goroutine.
//
// Whatever a worker has looked at is part of all its later records. So a worker only gets
// programs that are likely to look at the same files: from the same folder, with the same
// options and the same lines with "include". If that guess is wrong, a record has a file
// more than it needs.
type Pool struct {
	mu     sync.Mutex
	idle   []*Worker
	tick   bool
	looked time.Time // when isScarce was asked last
}

// Request is what Get needs to know of a program.
type Request struct {
	*Work
	NVRTC string               // the path of the library
	Locks Locks                // nil: workers of other processes do not count
	Now   *record.Surroundings // the world to compare a worker's records with
	// Folder makes a folder for a worker, which is removed by the function that it returns.
	Folder func() (path string, remove func(), err error)
}

// makeFolder makes a folder for a worker that precompiles headers. Without one NVRTC leaves them
// in the folder for temporary files, and the result is not kept.
func (r *Request) makeFolder() (path string, remove func()) {
	if !r.Precompiles || !ownsFolder {
		return "", nil
	}
	path, remove, err := r.Folder()
	if err != nil {
		return "", nil
	}
	return path, remove
}

// kind is the digest of what a worker and its programs have in common.
type kind key.Digest

// Get returns a worker for a program: one that is ready, or a new one that is loading
// NVRTC. It returns nil if there are as many workers as there may be; the caller then tries
// again. The caller gives the worker back by Put, or ends it.
func (p *Pool) Get(r *Request) (*Worker, error) {
	k := r.kindOf()
	for {
		w := p.takeWorker(k)
		if w == nil {
			break
		}
		if w.fitsNow(r.Now) {
			return w, nil
		}
		w.End()
	}
	s := takeSlot(r.Locks)
	if s == nil {
		p.endOldest()
		return nil, nil
	}
	folder, remove := r.makeFolder()
	w, err := startWorker(r.NVRTC, r.Dir, folder, r.Env)
	if err != nil {
		if remove != nil {
			remove()
		}
		s.releaseSlot()
		return nil, err
	}
	w.slot, w.kind, w.locks, w.remove = s, k, r.Locks, remove
	return w, nil
}

func (p *Pool) takeWorker(k kind) *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.idle, func(w *Worker) bool { return w.kind == k })
	if i < 0 {
		return nil
	}
	w := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return w
}

func (p *Pool) endOldest() {
	p.mu.Lock()
	var w *Worker
	if len(p.idle) > 0 {
		w = p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.mu.Unlock()
	if w != nil {
		w.End()
	}
}

// EndIdle ends the workers that wait for a program. A process that ends calls it: then its
// workers are waited for, and not left to process 1, which may wait for nobody.
func (p *Pool) EndIdle() {
	p.mu.Lock()
	all := p.idle
	p.idle = nil
	p.mu.Unlock()
	if !endsAtExit {
		return
	}
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(w.End)
	}
	group.Wait()
}

// Put gives back a worker that has answered and been recorded. Put ends it if other
// processes may be waiting for one.
func (p *Pool) Put(w *Worker) {
	if w.history == nil || w.run.Seen() > mostSeen || p.looksAround() && isScarce(w.locks) {
		w.End()
		return
	}
	w.since = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, w)
	if !p.tick {
		p.tick = true
		time.AfterFunc(time.Second, p.sweep)
	}
}

// lookAround is how often a process that compiles one program after the other checks
// whether workers are scarce. The check makes a file, which takes 0.1 ms; a small compile
// takes 25.
const lookAround = 100 * time.Millisecond

// looksAround reports whether it is time to check whether workers are scarce.
func (p *Pool) looksAround() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := time.Since(p.looked) >= lookAround
	if due {
		p.looked = time.Now()
	}
	return due
}

// mostSeen bounds the bytes of all reports of a worker, which are kept as long as it lives.
const mostSeen = 64 << 20

// sweep ends workers that have been idle for too long, and all idle ones if workers are
// scarce.
func (p *Pool) sweep() {
	scarce := p.isScarce()
	p.mu.Lock()
	var over []*Worker
	p.idle = slices.DeleteFunc(p.idle, func(w *Worker) bool {
		old := time.Since(w.since) >= idleFor
		if old {
			over = append(over, w)
		}
		return old
	})
	if scarce {
		over = append(over, p.idle...)
		p.idle = nil
	}
	p.tick = len(p.idle) > 0
	if p.tick {
		time.AfterFunc(time.Second, p.sweep)
	}
	p.mu.Unlock()
	for _, w := range over {
		w.End()
	}
}

// isScarce reports whether workers are scarce while some are idle here. It does not hold
// the lock while it looks, because the folder of locks may be slow.
func (p *Pool) isScarce() bool {
	p.mu.Lock()
	var locks Locks
	idle := len(p.idle) > 0
	if idle {
		locks = p.idle[0].locks
	}
	p.mu.Unlock()
	return idle && isScarce(locks)
}

// kindOf returns the digest of all that a worker is chosen by.
func (r *Request) kindOf() kind {
	var all []byte
	add := func(texts ...string) {
		all = key.AppendTexts(binary.LittleEndian.AppendUint32(all, uint32(len(texts))), texts...)
	}
	add(r.NVRTC, r.Dir, identityOfProcess())
	add(r.Options...)
	for _, h := range r.Headers {
		add(h.Name)
		add(includes(h.Text)...)
	}
	add(includes(r.Source)...)
	if r.Precompiles {
		add(r.precompiled()...)
	}
	// NVRTC looks at a source that is a file.
	if _, err := os.Stat(r.Name); err == nil {
		add(r.Name)
	}
	return kind(key.Sum(all))
}

// identityOfProcess identifies the users and groups of this process and the file system that it sees.
// If they change, older workers do not fit any more.
func identityOfProcess() string {
	var root unix.Stat_t
	unix.Stat("/", &root)
	mounts, _ := os.Readlink("/proc/self/ns/mnt")
	groups, _ := unix.Getgroups()
	return fmt.Sprint(unix.Geteuid(), unix.Getegid(), groups, root.Dev, root.Ino, mounts)
}
