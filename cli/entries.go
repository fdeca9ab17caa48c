package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// find returns the entry that an argument means: 64 hex digits, or as many as
// tell it from all others.
func (c *command) find(s *store.Store, arg string) (*store.Entry, error) {
	ids, err := s.Match(strings.ToLower(arg))
	switch {
	case err != nil:
		return nil, wrong(fmt.Sprintf("%q: want a key, or at least its first two hex digits", arg))
	case len(ids) == 0:
		return nil, no(fmt.Sprintf("there is no entry %s", arg))
	case len(ids) > 1:
		return nil, wrong(fmt.Sprintf("%s: %d entries begin with that", arg, len(ids)))
	}
	e, why := s.Stat(&ids[0])
	if why != store.None {
		return nil, no(fmt.Sprintf("entry %s cannot be used: %v", arg, why))
	}
	return e, nil
}

func (c *command) show() *ffcli.Command {
	flags := c.flags("show")
	asJSON := flags.Bool("json", false, "print a JSON object")
	return c.new("show [-json] KEY", "print what is known of an entry", flags, 1, 1, func(args []string) error {
		_, s, err := c.open()
		if err != nil {
			return err
		}
		e, err := c.find(s, args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			l := core.NewListed(e)
			l.Components = core.Components(e.Parts)
			return c.printJSON(l)
		}
		w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		const layout = "2006-01-02 15:04:05"
		fmt.Fprintf(w, "key\t%s\nname\t%s\nkind\t%s\nsize\t%d bytes\n", e.ID, e.Name, e.Kind, e.Payload)
		fmt.Fprintf(w, "created\t%s\nused\t%s\ncompile\t%s\n", time.Unix(0, e.Created).Format(layout),
			time.Unix(0, e.Used).Format(layout), duration(e.Cost))
		fmt.Fprintf(w, "owner\t%d\nfile\t%s\n", e.UID, e.Path)
		for _, p := range e.Parts {
			fmt.Fprintf(w, "component\t%s\t%x\n", p.Label, p.Short)
		}
		if e.Attributes != "" {
			fmt.Fprintf(w, "attributes\t%s\n", e.Attributes)
		}
		return w.Flush()
	})
}

func (c *command) path() *ffcli.Command {
	return c.new("path KEY", "print the file of an entry", nil, 1, 1, func(args []string) error {
		_, s, err := c.open()
		if err != nil {
			return err
		}
		e, err := c.find(s, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, e.Path)
		if c.terminal {
			fmt.Fprintln(c.stderr, "hint: the payload comes first, then some hundred bytes that ELF readers ignore; `jitcache export` writes the payload alone")
		}
		return nil
	})
}

func (c *command) export() *ffcli.Command {
	return c.new("export KEY FILE", "write the payload of an entry to a file, - for standard output", nil, 2, 2, func(args []string) error {
		_, s, err := c.open()
		if err != nil {
			return err
		}
		e, err := c.find(s, args[0])
		if err != nil {
			return err
		}
		b, why := s.Get(&e.ID)
		if why != store.None {
			return no(fmt.Sprintf("entry %s cannot be used: %v", args[0], why))
		}
		defer b.Release()
		if args[1] == "-" {
			_, err := io.Copy(c.stdout, bytes.NewReader(b.Data()))
			return err
		}
		return os.WriteFile(args[1], b.Data(), 0o666)
	})
}

func (c *command) rm() *ffcli.Command {
	return c.new("rm KEY…", "remove entries", nil, 1, 1<<16, func(args []string) error {
		cache, s, err := c.open()
		if err != nil {
			return err
		}
		defer cache.Close()
		for _, arg := range args {
			ids, err := s.Match(strings.ToLower(arg))
			if err != nil || len(ids) > 1 {
				return wrong(fmt.Sprintf("%s: not one key", arg))
			}
			if len(ids) == 0 {
				return no(fmt.Sprintf("there is no entry %s", arg))
			}
			if _, why := cache.Remove(&ids[0]); why != store.None {
				return fmt.Errorf("entry %s cannot be removed: %v", arg, why)
			}
		}
		return nil
	})
}
