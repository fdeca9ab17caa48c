// What the process remembers of a request: its keys, and the lists of its worlds.

package command

import (
	"encoding/binary"
	"sync"
	"time"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/observe"
	"jitcache/record"
)

// known is what the process knows of a request: its keys, and the lists of the worlds in
// which its result is known.
type known struct {
	request, lease *key.Key
	filter         record.Filter   // of the variables
	limits         *observe.Limits // that the command gets; nil: this process's

	mu    sync.Mutex
	lists *record.SetStore
	kind  string
	name  string
}

func newKnown(s *Spec) (*known, error) {
	request, err := s.request()
	if err != nil {
		return nil, err
	}
	lease, err := s.leaseKey()
	if err != nil {
		return nil, err
	}
	n := &known{request: request, lease: lease, kind: s.Kind, name: s.Name}
	if n.filter, err = record.ParseFilter(s.Environment); err != nil {
		return nil, err
	}
	if n.limits, err = observe.ParseLimits(s.Limits, s.Umask); err != nil {
		return nil, err
	}
	if !givesLimits {
		n.limits = nil
	}
	n.lists = record.NewSetStore(n.listsKey())
	return n, nil
}

// listsKey returns the key of the lists. It has no name, because cache.Explain compares
// keys with the last result of the same name.
func (n *known) listsKey() *key.Key {
	k := key.FromID(n.request.ID)
	k.Kind = n.request.Kind
	return k
}

// findRecord returns the key of the result in these surroundings. If no list fits, it returns
// nil, and why. missed is what it has found there before, if nothing; nil: it was not asked.
func (n *known) findRecord(now *record.Surroundings, missed *record.Found) (k *key.Key, found record.Found) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found = n.lists.FindNew(now, missed)
	if found.List == nil || len(found.List.Payload) != len(key.ID{}) {
		return nil, found
	}
	k = key.FromID(key.ID(found.List.Payload))
	k.Kind, k.Name = n.kind, n.name
	return k, found
}

// peek returns the result in these surroundings if it is in the cache, and its key if a
// list fits; why says why not.
func (n *known) peek(c *core.Cache, now *record.Surroundings) (b *blob.Blob, k *key.Key, why string) {
	b, k, why, _ = n.peekAgain(c, now, nil)
	return b, k, why
}

// peekAgain is peek, and compares nothing if nothing has changed since it was missed. missing is not
// nil if no list fits.
func (n *known) peekAgain(c *core.Cache, now *record.Surroundings, missed *record.Found) (b *blob.Blob, k *key.Key, why string, missing *record.Found) {
	switch {
	case c == nil || c.Mode() == core.ModeOff:
		return nil, nil, store.Off.String(), nil
	case c.Mode() == core.ModeRefresh:
		return nil, nil, store.Refresh.String(), nil
	}
	k, found := n.findRecord(now, missed)
	if k == nil {
		return nil, nil, found.Why, &found
	}
	b, reason := c.Peek(&k.ID)
	if b == nil {
		why = "the entry: " + reason.String()
	}
	return b, k, why, nil
}

// findWhole is find, and returns a key that has its components.
func (n *known) findWhole(now *record.Surroundings, s *Spec) (k *key.Key, why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.lists.Find(now)
	if found.List == nil {
		return nil, found.Why
	}
	k, err := s.resultKey(found.List)
	if err != nil {
		return nil, err.Error()
	}
	return k, ""
}

func (n *known) add(l *record.List, now *record.Surroundings) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lists.Add(l, now)
}

// ---- notes about requests whose results are not kept
//
// Some commands must not be observed: under the observer's filter, set-id programs get no
// privileges, and a debugger cannot trace. The first run shows which commands these are.
// They then run without an observer for a day. Also, nobody waits for another run of a
// command whose result is not kept.

const rememberedFor = 24 * time.Hour

const (
	notPlain = "run plain"
	notKept  = "not kept"
)

func (n *known) note(what string) *key.Key {
	return key.Note(what, n.request.ID[:])
}

func (n *known) isNoted(c *core.Cache, what string) bool {
	data := c.LoadNote(&n.note(what).ID)
	if len(data) != 8 {
		return false
	}
	since := time.Since(time.Unix(0, int64(binary.LittleEndian.Uint64(data))))
	return since >= 0 && since < rememberedFor
}

func (n *known) save(c *core.Cache, what string) {
	c.SaveNote(n.note(what), binary.LittleEndian.AppendUint64(nil, uint64(time.Now().UnixNano())))
}

func (j *Job) plain() bool { return j.isOff() || j.known.isNoted(j.cache, notPlain) }

// remember notes that the result of a request is not kept, and whether to run it without an
// observer.
func (j *Job) remember(rep *observe.Report) {
	j.known.save(j.cache, notKept)
	for _, u := range rep.Uses {
		if u.Use == observe.UsePrivilege || u.Use == observe.UseTrace {
			j.known.save(j.cache, notPlain)
			return
		}
	}
}
