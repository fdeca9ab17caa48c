// Why the last result of a name was not stored, kept for `jitcache explain`.

package core

import (
	"encoding/json"
	"strings"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// A result that was made and not stored leaves a note, so that `jitcache explain` can say
// later which file, variable or program was in the way.

// Refusal says why the last result of a name was not stored.
type Refusal struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
	Why    string    `json:"why"` // what was in the way; if it is a file, its path comes first
}

// refusalOf is how the names of these notes begin.
const refusalOf = "refusal of "

// RefusedName returns the name whose refusal a note of this name has. ok is false if it is
// another note.
func RefusedName(kind, name string) (of string, ok bool) {
	of, ok = strings.CutPrefix(name, refusalOf)
	return of, ok && kind == NoteKind
}

func refusalKey(name string) *key.Key {
	k := key.Note("refusal", []byte(name))
	if len(refusalOf)+len(name) <= key.MaxName {
		k.Name = refusalOf + name
	}
	return k
}

// noteRefusal notes a refusal of a name, unless the same is noted already.
func (c *Cache) noteRefusal(name string, reason store.Reason, why string) {
	if name == "" || why == "" || c.store == nil || c.store.Refuses() != store.None || c.settings.mode == ModeOff {
		return
	}
	was := c.LastRefusal(name)
	// Launched commands that were refused are not observed again at once, and are refused for what is known.
	if was != nil && was.Reason == reason.String() && strings.HasPrefix(why, was.Why) {
		return
	}
	data, err := json.Marshal(Refusal{time.Now(), reason.String(), why})
	if err == nil {
		c.SaveNote(refusalKey(name), data)
	}
}

// LastRefusal returns why the last result of a name was not stored, nil if none is known
// that was refused since a result was stored.
func (c *Cache) LastRefusal(name string) *Refusal {
	if name == "" || c.store == nil {
		return nil
	}
	var r Refusal
	if json.Unmarshal(c.LoadNote(&refusalKey(name).ID), &r) != nil {
		return nil
	}
	if last := c.store.LastNamed(name); len(last) > 0 && last[0].Stored > r.Time.UnixNano() {
		return nil
	}
	return &r
}
