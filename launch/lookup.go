// Looks up the result of a command.

package launch

import (
	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/record"
)

// lookup finds what a cache has for a request.
type lookup struct {
	cache   *core.Cache
	request *Request
	lists   *record.SetStore
	teller  *teller       // nil: nobody asks
	missed  *record.Found // of the last find, if it found no list
	gone    key.ID        // of a result of which a piece is gone
}

func newLookup(cache *core.Cache, r *Request) *lookup {
	return &lookup{cache: cache, request: r, lists: record.NewSetStore(r.request)}
}

// find returns the result of the command in the present world; nil, and why, if there is none.
// The caller releases it.
func (l *lookup) find() (found *result, why string) {
	if m := l.cache.Mode(); m == core.ModeOff || m == core.ModeRefresh {
		return nil, ""
	}
	list, why := l.list()
	if list == nil {
		return nil, why
	}
	id := key.ID(list.Payload)
	if id == l.gone {
		return nil, errGone.Error()
	}
	b, foreign, reason := l.cache.PeekFrom(&id)
	switch {
	case b == nil && reason == store.Absent:
		return nil, "its result is no longer in the cache"
	case b == nil:
		return nil, "its result cannot be used: " + reason.String()
	}
	found, err := parse(b.Data())
	if err != nil {
		b.Release()
		return nil, err.Error()
	}
	found.blob, found.foreign, found.cache = b, foreign, l.cache
	found.inputs, found.id = list.Files, id
	return found, ""
}

func (l *lookup) list() (list *record.List, why string) {
	found := l.lists.FindNew(l.request.surroundings(l.cache), l.missed)
	if l.missed = nil; found.List == nil {
		l.missed = &found
	}
	if found.List == nil || len(found.List.Payload) != len(key.ID{}) {
		return nil, found.Why
	}
	return found.List, ""
}
