package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
)

func (c *command) remote() *ffcli.Command {
	flags := c.flags("remote")
	flags.BoolVar(&c.asJSON, "json", false, "print a JSON object; with status an array")
	timeout := flags.Duration("timeout", time.Minute, "how long flush waits at most")
	const usage = "remote [-timeout D] status | flush | serve | ccache-link DIR"
	cmd := c.new(usage, "look at and look after the remotes", flags, 1, 2, func(args []string) error {
		if args[0] == "ccache-link" && len(args) == 2 {
			return c.linkCcache(args[1])
		}
		if len(args) != 1 {
			return wrong("usage: jitcache " + usage)
		}
		cache, _, err := c.open()
		if err != nil {
			return err
		}
		defer cache.Close()
		switch args[0] {
		case "status":
			return c.remoteStatus(cache)
		case "flush":
			return c.flushRemotes(cache, *timeout)
		case "serve":
			return cache.ServeRemote()
		}
		return wrong("usage: jitcache " + usage)
	})
	cmd.LongHelp = "status says how they are, flush waits until all that was stored is sent. serve stays, and holds\n" +
		"the connections, where programs may not start processes. ccache-link lets ccache use the\n" +
		"same program, by links in a folder of its PATH."
	return cmd
}

// asking is how long a helper may take to say how it is.
const asking = 2 * time.Second

// remotes asks the helpers of all remotes that are used how they are.
func remotes(cache *core.Cache) []remoteRow {
	rows := []remoteRow{}
	for _, r := range cache.Remotes() {
		row := remoteRow{URL: r.URL, Source: r.Source, Refused: r.Refused, Reads: r.Reads, Writes: r.Writes}
		if r.Refused == "" {
			row.Waiting = cache.Waiting(r)
			helper, err := r.Status(asking)
			if err != nil {
				row.Error = err.Error()
			} else {
				row.Helper = helper
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (c *command) remoteStatus(cache *core.Cache) error {
	rows := remotes(cache)
	if c.asJSON {
		return c.printJSON(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(c.stdout, "%s (%s): %s\n", r.URL, r.Source, or(r.Refused+r.Error, string(r.Helper)))
	}
	if len(rows) == 0 {
		return no("no remote is named: JITCACHE_REMOTE, or remotes in a file of settings")
	}
	return nil
}

func (c *command) flushRemotes(cache *core.Cache, timeout time.Duration) error {
	left := append([]string{}, cache.FlushRemotes(timeout)...)
	said := c.answer(map[string]any{"waiting": left}, func() {})
	if len(left) > 0 {
		return no("entries wait for " + strings.Join(left, ", "))
	}
	return said
}

func (c *command) linkCcache(dir string) error {
	program := core.FindStorage(program())
	if program == "" {
		return no("jitcache-storage is not installed")
	}
	links := []string{}
	for _, scheme := range []string{"redis", "rediss", "redis+unix", "s3", "http", "https"} {
		link := filepath.Join(dir, "ccache-storage-"+scheme)
		if err := os.Symlink(program, link); err != nil && !os.IsExist(err) {
			return err
		}
		links = append(links, link)
	}
	return c.answer(map[string]any{"program": program, "links": links}, func() {})
}
