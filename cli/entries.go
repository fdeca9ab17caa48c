// jitcache show, path, export and rm, and the entry that an argument means.

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// resolve returns the entry that an argument means, with nothing but its key set. The
// argument is the entry's whole name, or the first hex digits of its key, enough of them to
// be unambiguous.
func (c *command) resolve(cache *core.Cache, s *store.Store, arg string) (*store.Entry, error) {
	ids, err := s.Match(strings.ToLower(arg))
	if err != nil {
		ids = nil // not hex digits: a name
	}
	var entries []*core.Listed
	if len(arg) < 64 && (len(ids) == 0 || len(s.LastNamed(arg)) > 0) {
		if entries, err = entriesNamed(cache, arg); err != nil {
			return nil, err
		}
	}
	switch {
	case len(ids) > 0 && len(entries) > 0:
		return nil, c.ambiguous(arg, "the beginning of a key, and a name", entries)
	case len(ids) > 1:
		return nil, wrong(fmt.Sprintf("%s: %d entries begin with that", arg, len(ids)))
	case len(ids) == 1:
		return &store.Entry{ID: ids[0]}, nil
	case len(entries) > 1:
		return nil, c.ambiguous(arg, fmt.Sprintf("%d entries have that name", len(entries)), entries)
	case len(entries) == 1:
		ids, err = s.Match(entries[0].Key)
		if err == nil && len(ids) == 1 {
			return &store.Entry{ID: ids[0]}, nil
		}
	}
	return nil, no(fmt.Sprintf("there is no entry %s; `jitcache ls` lists them", arg))
}

// entriesNamed returns the entries of a name, the most recently used first.
func entriesNamed(cache *core.Cache, name string) ([]*core.Listed, error) {
	found := first{order: orders["used"]}
	err := cache.List(context.Background(), "", func(e *core.Listed) error {
		if e.Name == name && !core.IsInternal(e.Kind) {
			kept := *e
			found.addEntry(&kept)
		}
		return nil
	})
	return found.inOrder(), err
}

// maxShown is how many entries an error lists when a name is ambiguous.
const maxShown = 10

func (c *command) ambiguous(arg, what string, entries []*core.Listed) error {
	for i, e := range entries {
		if i == maxShown {
			fmt.Fprintf(c.stderr, "  and %d more\n", len(entries)-i)
			break
		}
		fmt.Fprintf(c.stderr, "  %s  %s  %s, used %s ago\n", e.Key[:12], e.Kind, store.FormatSize(e.Size), age(e.Used))
	}
	return wrong(fmt.Sprintf("%s: %s; give a key", arg, what))
}

// findEntry returns the entry that an argument means. The argument may be a part of its name, see
// fits; rm does not take such.
func (c *command) findEntry(cache *core.Cache, s *store.Store, arg string) (*store.Entry, error) {
	meant, err := c.resolve(cache, s, arg)
	if errors.As(err, new(no)) {
		name, partial := c.nameOfEntries(cache, arg)
		if partial != nil {
			return nil, partial
		}
		if name != "" {
			meant, err = c.resolve(cache, s, name)
		}
	}
	if err != nil {
		return nil, err
	}
	e, why := s.Stat(&meant.ID)
	if why != store.None {
		return nil, no(fmt.Sprintf("entry %s cannot be used: %v", arg, why))
	}
	return e, nil
}

// openEntry opens the cache, and returns the entry that an argument means.
func (c *command) openEntry(arg string) (*store.Store, *store.Entry, error) {
	cache, s, err := c.openCache()
	if err != nil {
		return nil, nil, err
	}
	e, err := c.findEntry(cache, s, arg)
	return s, e, err
}

func (c *command) showCommand() *ffcli.Command {
	return c.newCommand("show [-json] KEY", "describe an entry", nil, 1, 1, func(args []string) error {
		_, e, err := c.openEntry(args[0])
		if err != nil {
			return err
		}
		if c.asJSON {
			l := core.NewListed(e)
			l.Components = core.Components(e.Parts)
			return c.printJSON(l)
		}
		w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		const layout = "2006-01-02 15:04:05"
		fmt.Fprintf(w, "key\t%s\nname\t%s\nkind\t%s\nsize\t%d bytes\n", e.ID, line(e.Name), e.Kind, e.Payload)
		fmt.Fprintf(w, "created\t%s\nused\t%s\ncompile\t%s\n", time.Unix(0, e.Created).Format(layout),
			time.Unix(0, e.Used).Format(layout), duration(e.Cost))
		fmt.Fprintf(w, "owner\t%d\nfile\t%s\n", e.UID, e.Path)
		for _, p := range e.Parts {
			fmt.Fprintf(w, "component\t%s\t%x\n", line(p.Label), p.Short)
		}
		if e.Attributes != "" {
			fmt.Fprintf(w, "attributes\t%s\n", line(e.Attributes))
		}
		return w.Flush()
	})
}

func (c *command) pathCommand() *ffcli.Command {
	return c.newCommand("path KEY", "print the path of an entry's file", nil, 1, 1, func(args []string) error {
		_, e, err := c.openEntry(args[0])
		if err != nil {
			return err
		}
		if c.asJSON {
			return c.printJSON(map[string]string{"key": e.ID.String(), "path": e.Path})
		}
		if err := c.printPath(e.Path); err != nil {
			return err
		}
		if c.terminal {
			fmt.Fprintln(c.stderr, "hint: the file has the payload, then some hundred bytes that ELF readers ignore; `jitcache export` writes the payload alone")
		}
		return nil
	})
}

func (c *command) exportCommand() *ffcli.Command {
	return c.newCommand("export KEY FILE", "write the payload of an entry to a file, - for standard output", nil, 2, 2, func(args []string) error {
		s, e, err := c.openEntry(args[0])
		if err != nil {
			return err
		}
		b, why := s.Get(&e.ID)
		if why != store.None {
			return no(fmt.Sprintf("entry %s cannot be used: %v", args[0], why))
		}
		defer b.Release()
		if args[1] == "-" {
			if c.asJSON {
				return wrong("-json and - exclude each other: both would write to standard output")
			}
			_, err := io.Copy(c.raw, bytes.NewReader(b.Data()))
			return err
		}
		err = writeWhole(args[1], func(to io.Writer) error {
			_, err := to.Write(b.Data())
			return err
		})
		if err != nil {
			return err
		}
		return c.printAnswer(map[string]any{"key": e.ID.String(), "file": args[1], "size": len(b.Data())}, func() {})
	})
}

func (c *command) rmCommand() *ffcli.Command {
	return c.newCommand("rm KEY…", "remove entries", nil, 1, 1<<16, func(args []string) error {
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		removed := []string{}
		for _, arg := range args {
			meant, err := c.resolve(cache, s, arg)
			if err != nil {
				return err
			}
			if _, why := cache.Remove(&meant.ID); why != store.None {
				return fmt.Errorf("entry %s cannot be removed: %v", arg, why)
			}
			removed = append(removed, meant.ID.String())
		}
		return c.printAnswer(map[string]any{"removed": removed}, func() {})
	})
}
