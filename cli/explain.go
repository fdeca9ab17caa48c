package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *command) explain() *ffcli.Command {
	return c.new("explain KEY|NAME", "say what changed between the last two entries of a name", nil, 1, 1, func(args []string) error {
		_, s, err := c.open()
		if err != nil {
			return err
		}
		name := args[0]
		records := s.LastNamed(name)
		if len(records) == 0 {
			if ids, err := s.Match(strings.ToLower(name)); err != nil || len(ids) != 1 {
				return no(fmt.Sprintf("%q: nothing was stored under that name, and it is no key", name))
			}
			e, err := c.find(s, name)
			if err != nil {
				return err
			}
			if name = e.Name; name == "" {
				return no(fmt.Sprintf("entry %s has no name, so there is nothing to compare it with", args[0]))
			}
			records = s.LastNamed(name)
		}
		return c.printExplanation(s, name, records)
	})
}

func (c *command) printExplanation(s *store.Store, name string, records []store.Named) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "name\t%s\n", name)
	for i, what := range []string{"last stored", "before that"} {
		if i >= len(records) {
			fmt.Fprintf(w, "%s\tnothing is known\n", what)
			continue
		}
		r := records[i]
		state := "present"
		if _, why := s.Stat(&r.Key.ID); why != store.None {
			state = why.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", what, r.Key.ID.String()[:12], time.Unix(0, r.Stored).Format("2006-01-02 15:04:05"), state)
	}
	if len(records) > 1 {
		var e core.Explanation
		e.Changed, e.Added, e.Removed = records[0].Key.Changed(records[1].Key.Parts)
		difference := e.Difference()
		if difference == "" {
			difference = "no component; the key was given whole"
		}
		fmt.Fprintf(w, "difference\t%s\n", difference)
	}
	if len(records) > 0 {
		for _, p := range records[0].Key.Parts {
			fmt.Fprintf(w, "component\t%s\t%x\n", p.Label, p.Short)
		}
	}
	return w.Flush()
}
