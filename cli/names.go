// The names that an argument means.

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jitcache/core"
	"jitcache/core/store"
)

// An adapter's names are long: Numba's have the module and all types. So an argument may be
// a part of a name that people would say. If it is not the whole name of an entry, it means
// the name whose bare form it is, and else the name that begins with it.

// fit says how an argument fits a name. The lowest one that occurs counts.
type fit int

const (
	isName fit = iota // it is the name
	isBare            // it is the name without types, or the end of that: f or m.f for m.f(int64)
	begins            // the name, or the end of it that begins at a dot, colon or slash, begins with it
	fitsNot
)

// fitOf returns how an argument fits a name.
func fitOf(arg, name string) fit {
	if arg == name {
		return isName
	}
	head := name
	if end := strings.IndexAny(name, "(<[ "); end >= 0 {
		head = name[:end]
	}
	found := fitsNot
	for at := 0; ; {
		switch {
		case head[at:] == arg:
			return isBare
		case strings.HasPrefix(name[at:], arg):
			found = begins
		}
		next := strings.IndexAny(head[at:], ".:/")
		if next < 0 {
			break
		}
		at += next + 1
	}
	return found
}

// meant returns the names that an argument means, in order. each calls its argument for
// all names that there are.
func meant(arg string, each func(take func(name string))) (names []string) {
	best := fitsNot
	each(func(name string) {
		f := fitOf(arg, name)
		if name == "" || f == fitsNot || f > best {
			return
		}
		if f < best {
			best, names = f, nil
		}
		names = append(names, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// oneOf returns the only name. If there are several it lists them, and returns an error.
func (c *command) oneOf(arg string, names []string) (string, error) {
	if len(names) == 1 {
		return names[0], nil
	}
	for i, name := range names {
		if i == maxShown {
			fmt.Fprintf(c.stderr, "  and %d more\n", len(names)-i)
			break
		}
		fmt.Fprintf(c.stderr, "  %s\n", line(name))
	}
	return "", wrong(fmt.Sprintf("%s: %d names match; give more letters of one", arg, len(names)))
}

// nameOfEntries returns the name of entries that an argument means, "" if there is none.
func (c *command) nameOfEntries(cache *core.Cache, arg string) (string, error) {
	var err error
	names := meant(arg, func(take func(string)) {
		err = cache.List(context.Background(), "", func(e *core.Listed) error {
			if !core.IsInternal(e.Kind) {
				take(e.Name)
			}
			return nil
		})
	})
	if err != nil || len(names) == 0 {
		return "", err
	}
	return c.oneOf(arg, names)
}

// nameOfRecords returns the name that an argument means, of those under which something was
// stored, whether it is still there or not, or was refused; "" if there is none.
func (c *command) nameOfRecords(s *store.Store, arg string) (string, error) {
	if len(s.LastNamed(arg)) > 0 {
		return arg, nil
	}
	names := meant(arg, func(take func(string)) {
		s.EachName(func(n store.Named) {
			if of, ok := core.RefusedName(n.Key.Kind, n.Key.Name); ok {
				take(of)
			} else if !core.IsInternal(n.Key.Kind) {
				take(n.Key.Name)
			}
		})
	})
	if len(names) == 0 {
		return "", nil
	}
	return c.oneOf(arg, names)
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
