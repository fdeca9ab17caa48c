// jitcache trust and sign.

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core/store"
	"jitcache/core/trust"
)

// trustRow is a key as `jitcache trust list -json` prints it.
type trustRow struct {
	Key       string `json:"key"`
	Name      string `json:"name,omitempty"`
	Withdrawn bool   `json:"withdrawn"`
	NotBefore string `json:"not_before,omitempty"`
	Source    string `json:"source"`
}

func rowOf(keys *trust.Keys, k trust.Known) trustRow {
	from := ""
	if k.NotBefore != 0 {
		from = time.Unix(0, k.NotBefore).UTC().Format(time.RFC3339Nano)
	}
	return trustRow{k.Key.String(), k.Name, keys.Withdraws(k.Key), from, k.Source}
}

func (c *command) trustCommand() *ffcli.Command {
	const usage = "trust new FILE | add [-not-before TIME] KEY [NAME] | remove KEY | list"
	cmd := c.newCommand(usage, "manage the keys whose signatures are trusted", nil, 0, 1<<16, func([]string) error {
		return wrong("usage: jitcache " + usage)
	})
	cmd.Subcommands = []*ffcli.Command{
		c.newBelow("trust new FILE", "make a key, and print its public half, which others add", nil, 1, 1, func(args []string) error {
			return c.newKey(args[0])
		}),
		c.trustAdd(),
		c.newBelow("trust remove KEY", "withdraw a key: entries that it alone has signed become misses, copies too", nil, 1, 1, func(args []string) error {
			return c.noteKey(args[0], trust.Known{Withdrawn: true})
		}),
		c.newBelow("trust list", "list the keys that are trusted or withdrawn", c.array("list"), 0, 0, func([]string) error { return c.listKeys() }),
	}
	cmd.LongHelp = "add and remove write to the file $XDG_CONFIG_HOME/jitcache/keys."
	return cmd
}

func (c *command) trustAdd() *ffcli.Command {
	flags := c.flags("add")
	notBefore := flags.String("not-before", "", "trust only what it has signed from `TIME` on: 2026-01-31, 2026-01-31T10:00:00Z, or now")
	return c.newBelow("trust add [-not-before TIME] KEY [NAME]", "trust a key", flags, 1, 1<<16, func(args []string) error {
		return c.addKey(args[0], strings.Join(args[1:], " "), *notBefore)
	})
}

func (c *command) newKey(path string) error {
	s, err := trust.NewSecret()
	if err == nil {
		err = trust.WriteSecret(path, s)
	}
	if err != nil {
		return err
	}
	public := s.Public().String()
	return c.printAnswer(map[string]string{"key": public, "file": path}, func() { fmt.Fprintln(c.stdout, public) })
}

func (c *command) addKey(text, name, notBefore string) error {
	known := trust.Known{Name: name}
	switch notBefore {
	case "":
	case "now":
		known.NotBefore = time.Now().UnixNano()
	default:
		var err error
		if known.NotBefore, err = trust.ParseTime(notBefore); err != nil {
			return wrong(err.Error())
		}
	}
	return c.noteKey(text, known)
}

func (c *command) noteKey(text string, known trust.Known) error {
	k, err := trust.ParsePublic(text)
	if err != nil {
		return wrong(err.Error())
	}
	o := c.options()
	folders := o.SettingsFolders()
	if len(folders) < 2 {
		return fmt.Errorf("there is no home directory to write to")
	}
	before := trust.ReadKeys(c.env, folders, "")
	known.Key = k
	if err := trust.Note(folders[0], known); err != nil {
		return err
	}
	after := trust.ReadKeys(c.env, folders, "")
	switch {
	case !known.Withdrawn && !after.Trusts(k):
		return no(fmt.Sprintf("%s stays withdrawn, because another settings folder withdraws it too; see `jitcache trust list`", k))
	case !known.Withdrawn && before.Withdraws(k):
		fmt.Fprintf(c.stderr, "jitcache: %s was withdrawn, and is trusted again\n", k)
	}
	known.Source = trust.KeysFile(folders[0])
	return c.printAnswer(rowOf(after, known), func() {})
}

func (c *command) listKeys() error {
	o := c.options()
	keys := trust.ReadKeys(c.env, o.SettingsFolders(), "")
	for _, p := range keys.Problems {
		fmt.Fprintf(c.stderr, "jitcache: warning: %s\n", p)
	}
	rows := []trustRow{}
	for _, k := range keys.All {
		rows = append(rows, rowOf(keys, k))
	}
	if c.asJSON {
		return c.printJSON(rows)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		state := "trusted"
		if r.Withdrawn {
			state = "withdrawn"
		} else if r.NotBefore != "" {
			state = "trusted from " + r.NotBefore + " on"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Key, state, r.Source, r.Name)
	}
	return w.Flush()
}

func (c *command) signCommand() *ffcli.Command {
	flags := c.flags("sign")
	file := flags.String("key", "", "the secret key's `FILE`; default $JITCACHE_SIGNING_KEY_FILE")
	return c.newCommand("sign [-key FILE]", "sign the entries that were compiled here", flags, 0, 0, func([]string) error {
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		set, _ := cache.Settings().Get("signing-key-file")
		if *file == "" {
			*file = set.Value
		}
		if *file == "" {
			return wrong("which key? -key FILE, or JITCACHE_SIGNING_KEY_FILE")
		}
		secret, err := trust.ReadSecret(*file)
		if err != nil {
			return err
		}
		if exposed := trust.Exposed(*file); exposed != "" && *file != set.Value { // else the cache has said it
			fmt.Fprintf(c.stderr, "jitcache: warning: %s\n", exposed)
		}
		if s.Refuses() != store.None {
			return fmt.Errorf("%s: %v", s.Root(), s.Refuses())
		}
		done, err := cache.Sign(context.Background(), secret)
		said := c.printAnswer(map[string]int{"signed": done.Signed, "before": done.Before, "others": done.Others, "bad": done.Bad}, func() {
			fmt.Fprintf(c.stdout, "%d signed, %d were signed already, %d are from others, %d cannot be used\n", done.Signed, done.Before, done.Others, done.Bad)
		})
		if err == nil && done.Bad > 0 {
			return no("not every entry is signed")
		}
		return errors.Join(err, said)
	})
}

// keyRows returns the keys that doctor shows, without duplicates.
func keyRows(keys *trust.Keys) []trustRow {
	rows := []trustRow{}
	for _, k := range keys.All {
		if r := rowOf(keys, k); !slices.Contains(rows, r) {
			rows = append(rows, r)
		}
	}
	return rows
}
