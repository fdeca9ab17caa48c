// Explanation: why a lookup would miss, and which components differ from the last entry of the same
// name.

package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

// Explanation says why a lookup of a key would miss, and how the key differs from
// that of the last entry of the same name.
type Explanation struct {
	Key    string `json:"key"`
	Name   string `json:"name,omitempty"`
	Hit    bool   `json:"hit"`
	Reason string `json:"reason,omitempty"`
	// Why says what has changed since the result was made, "" if that is not known. If
	// it is a file, its path comes first.
	Why string `json:"why,omitempty"`
	// LastKey and LastStored are of the entry that the key is compared with; LastKey
	// is "" if none is known.
	LastKey    string    `json:"last_key,omitempty"`
	LastStored time.Time `json:"last_stored,omitzero"`
	// Labels of components that differ, that only the key has, that only the
	// last entry had.
	Changed []string `json:"changed,omitempty"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Refused is set if a later result of the name was not stored.
	Refused *Refusal `json:"refused,omitempty"`
}

func (c *Cache) explain(k *key.Key, why store.Reason) Explanation {
	e := Explanation{Key: k.ID.String(), Name: k.Name, Hit: why == store.None, Reason: why.String()}
	var stands bool
	e.Why, stands = c.standing.reason(&k.ID)
	if k.Name == "" {
		return e
	}
	for _, last := range c.lastNamed(k.Name) {
		if last.Key.ID == k.ID {
			continue
		}
		e.LastKey = last.Key.ID.String()
		e.LastStored = time.Unix(0, last.Stored)
		e.Changed, e.Added, e.Removed = k.Changed(last.Key.Parts)
		if stands {
			// The key of a request lacks the components for files and variables.
			e.Added, e.Removed = nil, nil
		}
		break
	}
	return e
}

// ChangedSinceLast returns the labels of the components in which a key differs from the most similar of the last
// entries of its name. A component that only the entry has counts if it is one of rare: a request lacks those for files and
// variables. It reports whether there is such an entry.
func (c *Cache) ChangedSinceLast(k *key.Key, rare ...string) (labels []string, ok bool) {
	for _, last := range c.lastNamed(k.Name) {
		changed, added, removed := k.Changed(last.Key.Parts)
		changed = append(changed, added...)
		for _, label := range removed {
			if slices.Contains(rare, label) {
				changed = append(changed, label)
			}
		}
		if !ok || len(changed) < len(labels) {
			labels, ok = changed, true
		}
	}
	return labels, ok
}

// lastNamed returns the last entries that were stored under a name, the latest first:
// those of the directory, else those of the first layer that has any.
func (c *Cache) lastNamed(name string) (last []store.Named) {
	if c.store != nil {
		last = c.store.LastNamed(name)
	}
	for _, l := range c.used {
		if len(last) == 0 && !l.Signed {
			last = l.store.LastNamed(name)
		}
	}
	return last
}

// Difference says in words what changed, "" if no change is known.
func (e *Explanation) Difference() string {
	var parts []string
	for _, d := range []struct {
		what   string
		labels []string
	}{{"changed", e.Changed}, {"added", e.Added}, {"removed", e.Removed}} {
		if len(d.labels) > 0 {
			parts = append(parts, d.what+" "+strings.Join(d.labels, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func (c *Cache) logMiss(level Level, id *key.ID, why store.Reason, sealed func() *key.Key) {
	k := key.FromID(*id)
	if sealed != nil {
		if full := sealed(); full != nil {
			k = full
		}
	}
	e := c.explain(k, why)
	text := fmt.Sprintf("%s: %v", label(k.Name, *id), why)
	if e.Why != "" {
		c.log.line(level, "%s; %s", text, e.Why)
		return
	}
	if d := e.Difference(); d != "" {
		text += fmt.Sprintf("; since %s: %s", e.LastStored.Format("2006-01-02 15:04:05"), d)
	}
	c.log.line(level, "%s", text)
}
