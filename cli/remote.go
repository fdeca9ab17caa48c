// jitcache remote.

package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

func (c *command) remoteCommand() *ffcli.Command {
	const usage = "remote status | flush [-timeout D] | push [-timeout D] [WHAT…] | serve | ccache-link DIR"
	cmd := c.newCommand(usage, "show the state of the remotes, and wait for them", nil, 0, 1<<16, func([]string) error {
		return wrong("usage: jitcache " + usage)
	})
	flags := c.flags("flush")
	timeout := flags.Duration("timeout", time.Minute, "wait at most `D`, as 30s or 5m")
	cmd.Subcommands = []*ffcli.Command{
		c.withRemotes("remote status", "show each remote's state and counters", c.array("status"), c.openOrMake, c.remoteStatus),
		c.withRemotes("remote flush [-timeout D]", "wait until all stored entries are sent", flags, c.openCache, func(cache *core.Cache) error {
			return c.flushRemotes(cache, *timeout)
		}),
		c.remotePush(),
		c.withRemotes("remote serve", "run the helper here, where programs may not start processes", nil, c.openOrMake, (*core.Cache).ServeRemote),
		c.newBelow("remote ccache-link DIR", "make links in DIR, by which ccache uses the same helper", nil, 1, 1, func(args []string) error {
			return c.linkCcache(args[0])
		}),
	}
	return cmd
}

// opener is open or openOrMake: a machine may be asked for its remotes before it has a directory.
type opener func() (*core.Cache, *store.Store, error)

// withRemotes makes a subcommand of remote that needs an open cache.
func (c *command) withRemotes(usage, help string, flags *flag.FlagSet, open opener, run func(*core.Cache) error) *ffcli.Command {
	return c.newBelow(usage, help, flags, 0, 0, func([]string) error {
		cache, _, err := open()
		if err != nil {
			return err
		}
		defer cache.Close()
		return run(cache)
	})
}

// statusTimeout is how long a helper may take to answer.
const statusTimeout = 2 * time.Second

func (c *command) remoteStatus(cache *core.Cache) error {
	rows := remotes(cache)
	if len(rows) == 0 && !c.asJSON {
		return no("there is no remote: set JITCACHE_REMOTE, or remotes in a settings file")
	}
	return c.print(rows, func(w io.Writer) { printRemotes(w, rows) })
}

func (c *command) flushRemotes(cache *core.Cache, timeout time.Duration) error {
	left := append([]string{}, cache.FlushRemotes(timeout)...)
	unsent := []string{}
	for _, r := range cache.Remotes() {
		if r.Writes && !cache.Sends(r) {
			unsent = append(unsent, r.URL)
		}
	}
	said := c.printAnswer(map[string]any{"waiting": left, "no_signing_key": unsent}, func() {
		for _, url := range unsent {
			fmt.Fprintf(c.stdout, "%s: %s\n", line(url), sendsNothing)
		}
	})
	if len(left) > 0 {
		return no("entries still wait to be sent to " + strings.Join(left, ", "))
	}
	return said
}

func (c *command) linkCcache(dir string) error {
	program := core.FindStorage(programPath())
	if program == "" {
		return no("jitcache-storage is not installed")
	}
	links := []string{}
	for _, scheme := range []string{"redis", "rediss", "redis+unix", "s3", "http", "https"} {
		link := filepath.Join(dir, "ccache-storage-"+scheme)
		if err := os.Symlink(program, link); err != nil {
			if to, _ := os.Readlink(link); to != program {
				return err
			}
		}
		links = append(links, link)
	}
	return c.printAnswer(map[string]any{"program": program, "links": links}, func() {})
}
