// Choose: which entries words name, and the lists and pieces that belong to them.

package bundle

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/record"
)

// leastDigits is how many digits of a key are needed, so that no word is taken for a key.
const leastDigits = 8

// Wanted says which entries a bundle is to have.
type Wanted struct {
	// Words are kinds, names, patterns of names, and first hex digits of keys; without words, all entries are wanted.
	Words []string
	// Since, if it is not zero, leaves out what was neither made nor used from then on. Entries whose recency does not show
	// that, because it may lag behind their last use, are not left out. The directory must note uses.
	Since time.Time
}

// Choose returns the keys of the wanted entries, in ascending order. A result brings the
// lists that say when it may be used, and lists bring their results. Notes that are not
// lists are left out, because only this machine can use them. Damaged files count as
// entries, without kind and name: the caller finds out that they cannot be used, and counts
// them.
func Choose(ctx context.Context, c *core.Cache, want Wanted) ([]key.ID, error) {
	wanted := want.Words
	for _, w := range wanted {
		if _, err := path.Match(w, ""); err != nil {
			return nil, fmt.Errorf("%q: %v", w, err)
		}
	}
	ch := choice{cache: c, Wanted: want, ids: map[key.ID]bool{}, sets: map[key.ID]setOf{}, found: map[string]bool{}, notes: map[string]bool{}}
	for part := 0; ; part++ {
		ids, ok := c.Keys(part)
		if !ok {
			break
		}
		for i := range ids {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ch.lookAt(&ids[i])
		}
	}
	addRelated(ch.ids, ch.sets)
	all := make([]key.ID, 0, len(ch.ids))
	for id := range ch.ids {
		all = append(all, id)
	}
	slices.SortFunc(all, func(a, b key.ID) int { return bytes.Compare(a[:], b[:]) })
	return all, ch.missing()
}

// choice is the state of a Choose.
type choice struct {
	Wanted
	cache *core.Cache
	ids   map[key.ID]bool
	sets  map[key.ID]setOf // the sets of lists
	found map[string]bool  // words that match an entry
	notes map[string]bool  // words that match notes of this machine
}

// lookAt decides whether the file of a key is chosen.
func (ch *choice) lookAt(id *key.ID) {
	l, ok := ch.cache.Describe(id, "")
	if !ok {
		l = core.Listed{Key: id.String()}
	}
	to, packs := ch.found, true
	if l.Kind == key.NoteKind {
		set, what := setAt(ch.cache, id)
		switch what {
		case isList:
			ch.sets[*id] = set
		case isNote:
			to, packs = ch.notes, false
		}
	}
	if ok && isIdle(&l, ch.Since) {
		return
	}
	meant := len(ch.Words) == 0
	for _, w := range ch.Words {
		if isMeant(w, &l) {
			meant, to[w] = true, true
		}
	}
	if meant && packs {
		ch.ids[*id] = true
	}
}

// missing returns an error for the first word that matches nothing.
func (ch *choice) missing() error {
	for _, w := range ch.Words {
		switch {
		case ch.found[w]:
		case ch.notes[w]:
			return fmt.Errorf("%q: these are notes of this machine, which no other can use", w)
		case !ch.Since.IsZero():
			return fmt.Errorf("%q: no entry of that kind, name or key was used since %s", w, ch.Since.Format(time.DateTime))
		default:
			return fmt.Errorf("%q: there is no entry of that kind, name or key", w)
		}
	}
	return nil
}

// isIdle reports whether an entry was certainly neither made nor used from a time on. The zero time is before all.
func isIdle(l *core.Listed, since time.Time) bool {
	lag := time.Duration(store.RecencyLag)
	if !allowsLag {
		lag = 0
	}
	return l.Used.Add(lag).Before(since)
}

// isMeant reports whether a word matches an entry. A damaged file has no kind.
func isMeant(w string, l *core.Listed) bool {
	if len(w) >= leastDigits && strings.HasPrefix(l.Key, strings.ToLower(w)) {
		return true
	}
	ok, _ := path.Match(w, l.Name)
	piece := l.Kind == "_run" && w == "run" // of a large output, docs/format.md
	return l.Kind != "" && (w == l.Kind || piece || ok || w == l.Name && w != "")
}

// What a note may be.
const (
	isList     = iota // a set of lists
	isNote            // a note that only this machine can use
	isUnusable        // not readable, or not trusted
)

// setOf is a set of lists: the results of its lists, and the set that leads to it.
type setOf struct {
	results []key.ID
	parent  key.ID
}

// setAt returns what a note is, and the set of lists if it is one.
func setAt(c *core.Cache, id *key.ID) (of setOf, what int) {
	b, why := c.Holds(id)
	if why != store.None {
		return of, isUnusable
	}
	defer b.Release()
	set, err := record.ParseSet(b.Data())
	if err != nil {
		return of, isNote
	}
	of.parent = set.Parent
	for _, p := range set.Payloads() {
		if len(p) == len(key.ID{}) {
			of.results = append(of.results, key.ID(p))
		}
	}
	return of, isList
}

// addRelated adds the sets that have lists of the chosen results, the sets below chosen ones, the
// results of all these, and the sets that lead to them. It does not go on from the results that it adds.
func addRelated(ids map[key.ID]bool, sets map[key.ID]setOf) {
	var related []key.ID
	for id, set := range sets {
		way := wayTo(id, sets)
		chosen := func(id key.ID) bool { return ids[id] }
		if slices.ContainsFunc(way, chosen) || slices.ContainsFunc(set.results, chosen) {
			related = append(append(related, way...), set.results...)
		}
	}
	for _, id := range related {
		ids[id] = true
	}
}

// wayTo returns the keys of a set and of those that lead to it.
func wayTo(id key.ID, sets map[key.ID]setOf) (way []key.ID) {
	for set, ok := sets[id]; ok && !slices.Contains(way, id); set, ok = sets[id] {
		way = append(way, id)
		if id = set.parent; !leadsToSets {
			break
		}
	}
	return way
}
