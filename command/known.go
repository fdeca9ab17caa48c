package command

import (
	"encoding/binary"
	"sync"
	"time"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/observe"
	"jitcache/record"
)

// known is what the process knows of a request: the lists of the worlds in which
// its result is known.
type known struct {
	request, lease *key.Key

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
	return &known{request: request, lease: lease, lists: record.NewSetStore(request), kind: s.Kind, name: s.Name}, nil
}

// find returns the key of the result in these surroundings; nil, and why, if no
// list fits.
func (n *known) find(now *record.Surroundings) (k *key.Key, why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.lists.Find(now)
	if found.List == nil || len(found.List.Payload) != len(key.ID{}) {
		return nil, found.Why
	}
	k = key.FromID(key.ID(found.List.Payload))
	k.Kind, k.Name = n.kind, n.name
	return k, ""
}

// peek returns the result in these surroundings, if it is there.
func (n *known) peek(c *core.Cache, now *record.Surroundings) (b *blob.Blob, k *key.Key, why string) {
	if c == nil || c.Mode() == core.ModeOff || c.Mode() == core.ModeRefresh {
		return nil, nil, ""
	}
	if k, why = n.find(now); k != nil {
		b, _ = c.Peek(&k.ID)
	}
	return b, k, why
}

func (n *known) add(l *record.List, now *record.Surroundings) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lists.Add(l, now)
}

// ---- commands that are run plain
//
// Some commands must not be observed: under the filter set-id programs get no
// privileges, and a debugger cannot trace. The first time shows which; for a day
// they are then run as if there was no observer, and not kept.

const plainFor = 24 * time.Hour

func (n *known) plainKey() *key.Key {
	b := key.NewBuilder()
	b.Add("run plain", n.request.ID[:])
	b.SetKind("manifest")
	k, err := b.Seal()
	if err != nil { // one plain label
		panic(err)
	}
	return k
}

func (j *Job) plain() bool {
	if j.cache == nil || j.cache.Mode() == core.ModeOff {
		return true
	}
	data := j.cache.LoadNote(&j.known.plainKey().ID)
	if len(data) != 8 {
		return false
	}
	since := time.Since(time.Unix(0, int64(binary.LittleEndian.Uint64(data))))
	return since >= 0 && since < plainFor
}

// remember notes that a command must not be observed.
func (j *Job) remember(rep *observe.Report) {
	if j.cache == nil || rep == nil || rep.Unobserved && len(rep.Uses) == 0 {
		return
	}
	for _, u := range rep.Uses {
		if u.Use == observe.UsePrivilege || u.Use == observe.UseTrace {
			j.cache.SaveNote(j.known.plainKey(), binary.LittleEndian.AppendUint64(nil, uint64(time.Now().UnixNano())))
			return
		}
	}
}
