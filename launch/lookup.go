package launch

import (
	"encoding/binary"
	"time"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/record"
)

// lookup is what a cache knows of a request.
type lookup struct {
	cache   *core.Cache
	request *Request
	lists   *record.SetStore
}

func newLookup(cache *core.Cache, r *Request) *lookup {
	return &lookup{cache: cache, request: r, lists: record.NewSetStore(r.request)}
}

// find returns what the command comes to in this world; nil, and why, if that is
// not known. The result is the caller's to release.
func (l *lookup) find() (found *result, why string) {
	if m := l.cache.Mode(); m == core.ModeOff || m == core.ModeRefresh {
		return nil, ""
	}
	list, why := l.list()
	if list == nil {
		return nil, why
	}
	id := key.ID(list.Payload)
	b, _ := l.cache.Peek(&id)
	if b == nil {
		return nil, ""
	}
	found, err := parse(b.Data())
	if err != nil {
		b.Release()
		return nil, err.Error()
	}
	found.blob = b
	found.inputs = list.Files
	return found, ""
}

func (l *lookup) list() (list *record.List, why string) {
	found := l.lists.Find(l.request.surroundings(l.cache))
	if found.List == nil || len(found.List.Payload) != len(key.ID{}) {
		return nil, found.Why
	}
	return found.List, ""
}

// ---- commands that are run plain
//
// Some commands cannot be kept whatever they are given: they read their standard
// input, or talk to others. Some must not be observed: under the filter set-id
// programs get no privileges. The first time shows which; the next times they are
// run as if there was no observer.

// How long that is remembered. What a source asks for, such as the time of day, may
// be edited out at any time; what the command is will not change so soon.
const (
	plainFor      = 24 * time.Hour
	plainForClock = 10 * time.Minute
)

func (l *lookup) plainKey() *key.Key {
	b := key.NewBuilder()
	b.Add("run plain", l.request.request.ID[:])
	b.Add("folder", []byte(record.Mark(l.request.dir, l.request.places)))
	b.SetKind("manifest")
	return mustSeal(b)
}

// plain returns why the command is to be run plain, "" if it is not.
func (l *lookup) plain() string {
	data := l.cache.LoadNote(&l.plainKey().ID)
	if len(data) < 8 {
		return ""
	}
	until := int64(binary.LittleEndian.Uint64(data))
	if now := time.Now().UnixNano(); now > until || until > now+int64(plainFor) {
		return ""
	}
	return string(data[8:])
}

// remember notes that a command is to be run plain, and why.
func (l *lookup) remember(why string, d time.Duration) {
	until := uint64(time.Now().Add(d).UnixNano())
	l.cache.SaveNote(l.plainKey(), append(binary.LittleEndian.AppendUint64(nil, until), why...))
}
