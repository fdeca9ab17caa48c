// Sends the entries that wait in outboxes.

package storage

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/storage/engine"
)

// Each entry that a program has stored is noted in the outbox of its directory until a helper
// has sent it: an empty file named by the key, in a folder per remote. While the entry is being
// sent, its file has the suffix .s. So neither the program nor the helper has to live until
// then: the next helper finds what the last one has left.

// outboxes are the outboxes that clients have named.
type outboxes struct {
	server *Server
	mu     sync.Mutex
	all    map[string]*outbox
}

// outbox is one of them. While it has entries, one goroutine works on it.
type outbox struct {
	dir, root, namespace string
	again                bool // something may have come
	working              bool
	left                 int // when it was last looked at
}

// sending marks an entry that is being sent.
const sending = ".s"

// An outbox is ROOT/v1/outbox/REMOTE.NAMESPACE.
var outboxPath = regexp.MustCompile(`^(/.*)/v1/outbox/[0-9a-f]{16}\.([A-Za-z0-9_=-]+)$`)

// addOutbox says that an outbox may have entries. A path that is no outbox is ignored.
func (o *outboxes) addOutbox(dir string) {
	m := outboxPath.FindStringSubmatch(dir)
	if m == nil || filepath.Clean(dir) != dir {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.all[dir]
	if b == nil {
		if o.all == nil || len(o.all) >= mostOutboxes {
			o.all = map[string]*outbox{}
		}
		b = &outbox{dir: dir, root: m[1], namespace: m[2]}
		o.all[dir] = b
	}
	b.again = true
	if !b.working {
		b.working = true
		go o.work(b)
	}
}

// mostOutboxes is how many outboxes are remembered. A forgotten one is still worked on, and the
// next client names it again.
const mostOutboxes = 1024

// busy reports whether anything is being sent.
func (o *outboxes) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.all {
		if b.working {
			return true
		}
	}
	return false
}

// waiting returns how many entries wait.
func (o *outboxes) waiting() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.all {
		if b.working {
			n += b.left
		}
	}
	return n
}

// emptied waits until an outbox is empty, and reports whether it is. With hasty it does not wait
// for an engine that is down. It also sends the entries that another helper is sending, because
// that helper may be dead.
func (o *outboxes) emptied(dir string, wait time.Duration, hasty bool) bool {
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		o.mu.Lock()
		b := o.all[dir]
		idle := b == nil || !b.working
		o.mu.Unlock()
		if idle {
			names, err := os.ReadDir(dir)
			if len(names) == 0 || b == nil {
				return len(names) == 0 && err == nil || errors.Is(err, os.ErrNotExist)
			}
		}
		if time.Now().After(end) || hasty && o.server.state.refuses() != "" {
			return false
		}
		if idle && sendsTheirs {
			time.Sleep(firstTry)
			o.addOutbox(dir)
		} else if idle {
			return false
		}
	}
}

// The time between two tries to send entries that the engine has answered for and not taken.
const (
	firstTry = 100 * time.Millisecond
	lastTry  = 30 * time.Second
)

// work sends the entries of an outbox until there are none.
func (o *outboxes) work(b *outbox) {
	wait := firstTry
	for {
		o.mu.Lock()
		b.again = false
		o.mu.Unlock()
		more := o.sendAll(b)
		o.mu.Lock()
		b.left = more
		if more == 0 && !b.again {
			b.working = false
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		switch {
		case more == 0:
			wait = firstTry
		case o.server.state.refuses() != "": // until it is up again, which others find out
			time.Sleep(firstTry)
		default:
			time.Sleep(wait)
			wait = min(2*wait, lastTry)
		}
	}
}

// atATime is how many entries of an outbox are sent at once.
const atATime = 8

// sendAll tries to send everything once, and returns how many entries are left.
func (o *outboxes) sendAll(b *outbox) (left int) {
	names, err := os.ReadDir(b.dir)
	if err != nil || len(names) == 0 {
		return 0
	}
	if o.server.state.refuses() != "" {
		return len(names)
	}
	// Whoever fetches an entry verifies it, so the owner of the directory does not matter here.
	from, err := store.OpenAnybodys(b.root, &store.Options{})
	if err != nil {
		return 0
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	free := make(chan bool, atATime)
	for i, n := range names {
		o.mu.Lock()
		b.left = len(names) - i
		o.mu.Unlock()
		free <- true
		group.Go(func() {
			if !o.send(b, from, n.Name()) {
				mu.Lock()
				left++
				mu.Unlock()
			}
			<-free
		})
	}
	group.Wait()
	return left
}

// send sends one entry, and reports whether it is done with.
func (o *outboxes) send(b *outbox, from *store.Store, name string) bool {
	digits := strings.TrimSuffix(name, sending)
	id, err := key.ParseID(digits)
	if err != nil {
		return true // not ours
	}
	taken := filepath.Join(b.dir, digits+sending)
	if name == digits && os.Rename(filepath.Join(b.dir, name), taken) != nil {
		return true // another helper has it
	}
	entry, why := from.Get(&id)
	switch {
	case why == store.None:
	case why == store.NoMemory || why == store.Descriptors:
		return false
	default: // evicted, or not good any more
		os.Remove(taken)
		return true
	}
	defer entry.Release()
	s := o.server
	if !keepsMarks {
		os.Remove(taken)
	}
	if s.state.refuses() != "" {
		return false
	}
	_, err = s.putValue(engine.Name{Parts: []string{"jitcache", "1", b.namespace, digits}}, entry.Buffer(), true)
	if err == nil || errors.Is(err, engine.ErrTooLarge) {
		os.Remove(taken)
		return true
	}
	s.counts.errors.Add(1)
	s.failed(err)
	return false
}
