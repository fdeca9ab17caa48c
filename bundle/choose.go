package bundle

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/record"
)

// leastDigits is how many digits of a key are needed, so that no word is taken for a key.
const leastDigits = 8

// Choose returns the keys of the wanted entries, in ascending order. Each wanted word is a
// kind, a name, a pattern of names, or the first hex digits of a key; without words, all
// entries are wanted. A result brings the lists that say when it may be used, and lists
// bring their results. Notes that are not lists are left out, because only this machine
// can use them. Damaged files count as entries, without kind and name: the caller finds
// out that they cannot be used, and counts them.
func Choose(ctx context.Context, c *core.Cache, wanted []string) ([]key.ID, error) {
	for _, w := range wanted {
		if _, err := path.Match(w, ""); err != nil {
			return nil, fmt.Errorf("%q: %v", w, err)
		}
	}
	ch := choice{cache: c, wanted: wanted, ids: map[key.ID]bool{}, lists: map[key.ID][]key.ID{}, found: map[string]bool{}, notes: map[string]bool{}}
	for part := 0; ; part++ {
		ids, ok := c.Keys(part)
		if !ok {
			break
		}
		for i := range ids {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ch.look(&ids[i])
		}
	}
	addRelated(ch.ids, ch.lists)
	all := make([]key.ID, 0, len(ch.ids))
	for id := range ch.ids {
		all = append(all, id)
	}
	slices.SortFunc(all, func(a, b key.ID) int { return bytes.Compare(a[:], b[:]) })
	return all, ch.missing()
}

// choice is the state of a Choose.
type choice struct {
	cache  *core.Cache
	wanted []string
	ids    map[key.ID]bool
	lists  map[key.ID][]key.ID // the lists of the cache, each with its results
	found  map[string]bool     // words that match an entry
	notes  map[string]bool     // words that match notes of this machine
}

// look decides whether the file of a key is chosen.
func (ch *choice) look(id *key.ID) {
	l, ok := ch.cache.Describe(id, "")
	if !ok {
		l = core.Listed{Key: id.String()}
	}
	to, packs := ch.found, true
	if l.Kind == key.NoteKind {
		results, what := resultsOf(ch.cache, id)
		switch what {
		case isList:
			ch.lists[*id] = results
		case isNote:
			to, packs = ch.notes, false
		}
	}
	meant := len(ch.wanted) == 0
	for _, w := range ch.wanted {
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
	for _, w := range ch.wanted {
		switch {
		case ch.found[w]:
		case ch.notes[w]:
			return fmt.Errorf("%q: these are notes of this machine, which no other can use", w)
		default:
			return fmt.Errorf("%q: there is no entry of that kind, name or key", w)
		}
	}
	return nil
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

// resultsOf returns what a note is and, of lists, the keys of their results.
func resultsOf(c *core.Cache, id *key.ID) (results []key.ID, what int) {
	b, why := c.Holds(id)
	if why != store.None {
		return nil, isUnusable
	}
	defer b.Release()
	set, err := record.ParseSet(b.Data())
	if err != nil {
		return nil, isNote
	}
	for _, p := range set.Payloads() {
		if len(p) == len(key.ID{}) {
			results = append(results, key.ID(p))
		}
	}
	return results, isList
}

// addRelated adds the lists of the chosen results, and the results of these lists. It does
// not go on from the results that it adds.
func addRelated(ids map[key.ID]bool, lists map[key.ID][]key.ID) {
	chosen := func(id key.ID) bool { return ids[id] }
	var related []key.ID
	for id, results := range lists {
		if ids[id] || slices.ContainsFunc(results, chosen) {
			related = append(append(related, id), results...)
		}
	}
	for _, id := range related {
		ids[id] = true
	}
}
