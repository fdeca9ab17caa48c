// jitcache stats.

package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

const statsHelp = `The counters cover all processes since the counters were last set to zero. A process
writes its counters every ten seconds and when it ends. -since counts whole days of UTC,
today among them: 7d, 2w, 1y, today, or the first day as 2006-01-02. The directory
remembers the last 400 days. The counters of a remote come from its helper, which all
processes of the user share on this machine, and begin when the helper starts.`

func (c *command) statsCommand() *ffcli.Command {
	flags := c.flags("stats")
	zero := flags.Bool("zero", false, "set the counters to zero after printing, those of the days too")
	all := flags.Bool("all", false, "count the cache's own records too")
	since := flags.String("since", "", "count only the last `DAYS`: 7d, 2w, 1y, today, 2006-01-02")
	cmd := c.newCommand("stats [-all] [-since DAYS] [-json] [-zero]", "print the size of the cache, and hits, misses and compiles by kind", flags, 0, 0, func([]string) error {
		from, err := firstDay(*since, time.Now())
		if err != nil {
			return err
		}
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		if *since != "" {
			history := cache.History(from)
			if !*all {
				history = history.WithoutInternal()
			}
			err = c.print(history, func(w io.Writer) { printHistory(w, &history, from) })
		} else {
			stats := withRemotes{cache.Stats(), remotes(cache)}
			if !*all {
				stats.Stats = stats.WithoutInternal()
			}
			err = c.print(stats, func(w io.Writer) { printStats(w, &stats) })
		}
		if err == nil && *zero {
			err = s.Zero(context.Background())
		}
		return err
	})
	cmd.LongHelp = statsHelp
	return cmd
}

// print prints the object if JSON was asked for, else the same as a table.
func (c *command) print(object any, table func(io.Writer)) error {
	if c.asJSON {
		return c.printJSON(object)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// daysOf has the units of -since, in days.
var daysOf = map[byte]int{'d': 1, 'w': 7, 'y': 365}

// firstDay returns the first day of a value of -since, the zero time for "".
func firstDay(text string, now time.Time) (time.Time, error) {
	switch {
	case text == "":
		return time.Time{}, nil
	case text == "today":
		return now, nil
	}
	if unit := daysOf[text[len(text)-1]]; unit > 0 {
		if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && n > 0 && n <= 10_000/unit {
			return now.AddDate(0, 0, 1-n*unit), nil
		}
	}
	if day, err := time.Parse(core.DayLayout, text); err == nil && !day.After(now) && day.Unix() >= 0 {
		return day, nil
	}
	return time.Time{}, wrong(fmt.Sprintf("-since %q: want 7d, 2w, 1y, today, or a day as %s that is not in the future", text, core.DayLayout))
}

func printStats(w io.Writer, s *withRemotes) {
	fmt.Fprintf(w, "directory\t%s\n", s.Directory)
	limit := "unlimited"
	if s.MaxSize > 0 {
		limit = store.FormatSize(s.MaxSize)
	}
	fmt.Fprintf(w, "size\t%s of %s in %s\n", store.FormatSize(s.Bytes), limit, store.FormatEntries(s.Entries))
	if !s.Zeroed.IsZero() {
		fmt.Fprintf(w, "counting since\t%s\n", s.Zeroed.Format("2006-01-02 15:04:05"))
	}
	for i := range s.Remotes {
		r := &s.Remotes[i]
		fmt.Fprintf(w, "remote\t%s: %s%s\n", r.URL, r.does(), r.helperText())
	}
	printKinds(w, s.Total, s.Kinds)
}

func printHistory(w io.Writer, h *core.History, from time.Time) {
	fmt.Fprintf(w, "directory\t%s\n", h.Directory)
	days := 1 + store.DayOf(time.Now().UnixNano()) - store.DayOf(from.UnixNano())
	fmt.Fprintf(w, "since\t%s (UTC), %d days including today\n", h.Since, days)
	switch {
	case h.First == "":
		fmt.Fprintf(w, "remembered\tnothing has been counted by day so far\n")
	case h.First > h.Since:
		fmt.Fprintf(w, "remembered\tfrom %s on\n", h.First)
	}
	printKinds(w, h.Total, h.Kinds)
}

func printKinds(w io.Writer, total core.KindStats, kinds map[string]core.KindStats) {
	fmt.Fprintln(w)
	fmt.Fprintln(w, "KIND\tHITS\tMISSES\tCOMPILES\tCOMPILED FOR\tSAVED\tEVICTED")
	row := func(name string, k core.KindStats) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%d\n", name, k.Hits(), k.Misses, k.Compiles,
			duration(int64(k.CompileTime*1e9)), duration(int64(k.TimeSaved*1e9)), k.Evictions)
	}
	for _, kind := range sorted(kinds) {
		if k := kinds[kind]; k.Hits()+k.Misses+k.Puts+k.NotStored+k.Compiles+k.Evictions > 0 {
			row(kind, k)
		}
	}
	row("total", total)
	for _, reason := range sorted(total.MissReasons) {
		if reason != store.Absent.String() {
			fmt.Fprintf(w, "missed: %s\t%d\n", reason, total.MissReasons[reason])
		}
	}
	for _, reason := range sorted(total.NotReasons) {
		fmt.Fprintf(w, "not stored: %s\t%d\n", reason, total.NotReasons[reason])
	}
}
