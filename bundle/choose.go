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

// leastDigits is how much of a key has to be given, so that no word is taken for one.
const leastDigits = 8

// Choose returns the keys of entries, in ascending order: of all if nothing is wanted,
// else of those that any of the words means: a kind, a name or a pattern of names, or the
// first hex digits of a key. With a result come the lists of when it may be used, and
// with lists their results. Notes that are not lists are of this machine alone, and are
// left out. Files that are no entries are among all, and are meant by their keys: whoever
// packs them says how many cannot be used.
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

// choice is a Choose that is under way.
type choice struct {
	cache  *core.Cache
	wanted []string
	ids    map[key.ID]bool
	lists  map[key.ID][]key.ID // the results of lists
	found  map[string]bool     // words that mean something
	notes  map[string]bool     // words that mean notes of this machine
}

// look decides about the file of a key.
func (ch *choice) look(id *key.ID) {
	l, ok := ch.cache.Describe(id, "")
	if !ok {
		l = core.Listed{Key: id.String()}
	}
	to, packs := ch.found, true
	if l.Kind == listsKind {
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

// missing is the error of the first word that means nothing.
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

// isMeant reports whether a word means an entry. A file that is none has no kind.
func isMeant(w string, l *core.Listed) bool {
	if len(w) >= leastDigits && strings.HasPrefix(l.Key, strings.ToLower(w)) {
		return true
	}
	ok, _ := path.Match(w, l.Name)
	return l.Kind != "" && (w == l.Kind || ok || w == l.Name && w != "")
}

// What a note may be.
const (
	isList     = iota // a set of lists
	isNote            // something of this machine
	isUnusable        // nothing that can be read, or that is trusted
)

// resultsOf returns the keys of the results that a note has lists of.
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

// addRelated adds the lists of results that were chosen, and the results of lists.
func addRelated(ids map[key.ID]bool, lists map[key.ID][]key.ID) {
	chosen := func(id key.ID) bool { return ids[id] }
	for id, results := range lists {
		if !ids[id] && !slices.ContainsFunc(results, chosen) {
			continue
		}
		defer func() {
			ids[id] = true
			for _, r := range results {
				ids[r] = true
			}
		}()
	}
}
