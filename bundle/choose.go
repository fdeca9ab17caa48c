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
// left out.
func Choose(ctx context.Context, c *core.Cache, wanted []string) ([]key.ID, error) {
	for _, w := range wanted {
		if _, err := path.Match(w, ""); err != nil {
			return nil, fmt.Errorf("%q: %v", w, err)
		}
	}
	ids, lists, missing := map[key.ID]bool{}, map[key.ID][]key.ID{}, slices.Clone(wanted)
	err := c.List(ctx, "", func(l *core.Listed) error {
		id, err := key.ParseID(l.Key)
		if err != nil {
			return err
		}
		if l.Kind == listsKind {
			results, ok := resultsOf(c, &id)
			if !ok {
				return nil
			}
			lists[id] = results
		}
		means := func(w string) bool { return isMeant(w, l) }
		if len(wanted) == 0 || slices.ContainsFunc(wanted, means) {
			ids[id] = true
			missing = slices.DeleteFunc(missing, means)
		}
		return nil
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%q: there is no entry of that kind, name or key", missing[0])
	}
	addRelated(ids, lists)
	all := make([]key.ID, 0, len(ids))
	for id := range ids {
		all = append(all, id)
	}
	slices.SortFunc(all, func(a, b key.ID) int { return bytes.Compare(a[:], b[:]) })
	return all, err
}

func isMeant(w string, l *core.Listed) bool {
	if w == l.Kind || len(w) >= leastDigits && strings.HasPrefix(l.Key, strings.ToLower(w)) {
		return true
	}
	ok, _ := path.Match(w, l.Name)
	return ok || w == l.Name && w != ""
}

// resultsOf returns the keys of the results that a note has lists of; ok is false if it
// is no set of lists.
func resultsOf(c *core.Cache, id *key.ID) (results []key.ID, ok bool) {
	b, why := c.Holds(id)
	if why != store.None {
		return nil, false
	}
	defer b.Release()
	set, err := record.ParseSet(b.Data())
	if err != nil {
		return nil, false
	}
	for _, p := range set.Payloads() {
		if len(p) == len(key.ID{}) {
			results = append(results, key.ID(p))
		}
	}
	return results, true
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
