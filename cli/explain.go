// jitcache explain.

package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// explained describes the last two entries of a name, as -json prints it.
type explained struct {
	Name    string            `json:"name"`
	Entries []explainedEntry  `json:"entries"` // the last one first
	Changed []string          `json:"changed,omitempty"`
	Added   []string          `json:"added,omitempty"`
	Removed []string          `json:"removed,omitempty"`
	Parts   map[string]string `json:"components"`
	Refused *core.Refusal     `json:"refused,omitempty"` // why a later result was not stored
}

type explainedEntry struct {
	Key    string    `json:"key"`
	Stored time.Time `json:"stored"`
	State  string    `json:"state"` // "present", or why it is not
}

func (c *command) explainCommand() *ffcli.Command {
	return c.newCommand("explain [-json] KEY", "say what changed between the last two entries of a name", nil, 1, 1, func(args []string) error {
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		name, err := c.explained(cache, s, args[0])
		if err != nil {
			return err
		}
		x := explanation(s, name, s.LastNamed(name))
		x.Refused = cache.LastRefusal(name)
		if c.asJSON {
			return c.printJSON(x)
		}
		return c.printExplanation(x)
	})
}

// explained returns the name that an argument means: a name, a part of one, or the first
// digits of a key.
func (c *command) explained(cache *core.Cache, s *store.Store, arg string) (string, error) {
	if ids, err := s.Match(strings.ToLower(arg)); err != nil || len(ids) == 0 || len(s.LastNamed(arg)) > 0 {
		name, err := c.nameOfRecords(s, arg)
		if name != "" || err != nil {
			return name, err
		}
	}
	e, err := c.findEntry(cache, s, arg)
	switch {
	case err != nil:
		return "", err
	case e.Name == "":
		return "", no(fmt.Sprintf("entry %s has no name, so there is nothing to compare it with", arg))
	}
	return e.Name, nil
}

func explanation(s *store.Store, name string, records []store.Named) *explained {
	x := &explained{Name: name, Entries: []explainedEntry{}, Parts: map[string]string{}}
	for _, r := range records {
		state := "present"
		if _, why := s.Stat(&r.Key.ID); why != store.None {
			state = why.String()
		}
		x.Entries = append(x.Entries, explainedEntry{r.Key.ID.String(), time.Unix(0, r.Stored), state})
	}
	if len(records) > 1 {
		x.Changed, x.Added, x.Removed = records[0].Key.Changed(records[1].Key.Parts)
	}
	if len(records) > 0 {
		x.Parts = core.Components(records[0].Key.Parts)
	}
	return x
}

func (c *command) printExplanation(x *explained) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "name\t%s\n", line(x.Name))
	for i, what := range []string{"last stored", "before that"} {
		if i >= len(x.Entries) {
			fmt.Fprintf(w, "%s\tunknown\n", what)
			continue
		}
		e := x.Entries[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", what, e.Key[:12], e.Stored.Format("2006-01-02 15:04:05"), e.State)
	}
	if len(x.Entries) > 1 {
		d := core.Explanation{Changed: x.Changed, Added: x.Added, Removed: x.Removed}
		difference := d.Difference()
		if difference == "" {
			difference = "no component; the caller gave the whole key"
		}
		fmt.Fprintf(w, "difference\t%s\n", line(difference))
	}
	if x.Refused != nil {
		fmt.Fprintf(w, "not stored\t%s\t%s: %s\n", x.Refused.Time.Format("2006-01-02 15:04:05"), x.Refused.Reason, line(x.Refused.Why))
	}
	for _, label := range sorted(x.Parts) {
		fmt.Fprintf(w, "component\t%s\t%s\n", line(label), x.Parts[label])
	}
	return w.Flush()
}
