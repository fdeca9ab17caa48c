// jitcache report.

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/cli/report"
	"jitcache/core"
)

const reportHelp = `The page is one file that needs no network. It shows hits, misses and time by kind and
day, what missed and which component had changed, and sizes and ages of the entries.

The changed components come from a log, which programs write with JITCACHE_LOG=miss and
JITCACHE_LOG_FILE=FILE. The report reads the log that -log names, else the one that
JITCACHE_LOG_FILE names; * in the name stands for any text.`

// reportDays is the default of report -since.
const reportDays = "90d"

func (c *command) reportCommand() *ffcli.Command {
	flags := c.flags("report")
	since := flags.String("since", reportDays, "show only the last `DAYS`: 7d, 2w, 1y, today, 2006-01-02")
	all := flags.Bool("all", false, "count the cache's own records too")
	log := flags.String("log", "", "read the misses from `FILE`")
	cmd := c.newCommand("report [-all] [-since DAYS] [-log FILE] FILE.html", "draw the cache's past as a page for a browser; - is standard output", flags, 1, 1, func(args []string) error {
		now := time.Now()
		from, err := firstDay(*since, now)
		if err != nil {
			return err
		}
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		page := report.Page{
			Made: now, Version: Version, Stats: cache.Stats(), History: cache.History(from), Entries: report.NewEntries(now),
		}
		if !*all {
			page.Stats, page.History = page.Stats.WithoutInternal(), page.History.WithoutInternal()
		}
		if page.Log, err = c.readLog(*log, from.UTC().Truncate(24*time.Hour)); err != nil {
			return err
		}
		if err := c.lookAt(cache, &page, *all); err != nil {
			return err
		}
		if args[0] == "-" {
			if c.asJSON {
				return wrong("-json and - exclude each other: both would write to standard output")
			}
			return page.Write(c.raw)
		}
		if err := writeWhole(args[0], page.Write); err != nil {
			return err
		}
		return c.printAnswer(map[string]any{"file": args[0], "entries": page.Stats.Entries, "since": page.History.Since}, func() {
			fmt.Fprintln(c.stdout, args[0])
		})
	})
	cmd.LongHelp = reportHelp
	return cmd
}

// lookAt adds every entry to the page. It reads what is noted of an entry, and no payload.
// The cache's own records are one kind there, unless all of their kinds were asked for.
func (c *command) lookAt(cache *core.Cache, page *report.Page, all bool) error {
	p, done := c.progress("report")
	defer done()
	n := 0
	return cache.List(context.Background(), "", func(e *core.Listed) error {
		if !all && core.IsInternal(e.Kind) {
			e.Kind = "records"
		}
		page.Entries.Add(e)
		if n++; p != nil && n%256 == 0 {
			p(min(float64(n)/float64(max(page.Stats.Entries, 1)), 1), n)
		}
		return nil
	})
}

// readLog reads the log that was asked for, else the one that JITCACHE_LOG_FILE names. It
// returns nil if the latter does not exist; the former must.
func (c *command) readLog(asked string, since time.Time) (*report.Log, error) {
	name := asked
	if name == "" {
		// Each process may have a log of its own.
		name = strings.NewReplacer("%%", "%", "%p", "*", "%h", "*").Replace(c.env("JITCACHE_LOG_FILE"))
	}
	if name == "" {
		return nil, nil
	}
	files, err := filepath.Glob(name)
	if len(files) == 0 && err == nil && asked != "" {
		files = []string{name} // opening it fails, and the error says why
	}
	if err != nil || len(files) == 0 {
		return nil, err
	}
	log := report.NewLog(name)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		err = log.Read(f, since)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return log, nil
}
