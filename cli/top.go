// `jitcache top`: a live view of what the cache does.

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

const topHelp = `Ctrl-C ends it. Processes write their counters every ten seconds and when they end, so a long process
shows in steps. Without a terminal each view is printed below the last; with -json each is a line.`

// topView is what `jitcache top` shows, and prints as a line of JSON with -json.
type topView struct {
	Time      time.Time   `json:"time"`
	Directory string      `json:"directory"`
	Entries   int64       `json:"entries"`
	Bytes     int64       `json:"bytes"`
	MaxSize   int64       `json:"max_size"`
	Kinds     []topRow    `json:"kinds"`
	Compiling []leaseRow  `json:"compiling"`
	Remotes   []remoteRow `json:"remotes"`
}

// topRow has the counters of a kind: all, and since the last view.
type topRow struct {
	Kind     string `json:"kind"`
	Hits     uint64 `json:"hits"`
	Misses   uint64 `json:"misses"`
	Compiles uint64 `json:"compiles"`
	// New are the same, since the last view.
	New struct {
		Hits     uint64  `json:"hits"`
		Misses   uint64  `json:"misses"`
		Compiles uint64  `json:"compiles"`
		Saved    float64 `json:"saved_seconds"`
	} `json:"new"`
}

func (c *command) topCommand() *ffcli.Command {
	flags := c.flags("top")
	interval := flags.Duration("interval", 2*time.Second, "look every `D`")
	limit := flags.Int("n", 0, "end after `N` views; 0: never")
	cmd := c.newCommand("top [-interval D] [-n N] [-json]", "show what happens in the cache now", flags, 0, 0, func([]string) error {
		if *interval < 100*time.Millisecond || *limit < 0 {
			return wrong("-interval wants 100ms or more, and -n a number that is not negative")
		}
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		live := isTerminal(c.raw) && !c.asJSON
		var last map[string]core.KindStats
		for n := 1; ; n++ {
			stats := cache.Stats().WithoutInternal()
			v := newTopView(&stats, last, liveLeases(s), remotes(cache))
			if err := c.showView(v, live); err != nil {
				return err
			}
			if n == *limit {
				return nil
			}
			last = stats.Kinds
			time.Sleep(*interval)
		}
	})
	cmd.LongHelp = topHelp
	return cmd
}

// newTopView compares the counters with those of the last view, nil if this is the first.
func newTopView(s *core.Stats, last map[string]core.KindStats, compiling []leaseRow, remotes []remoteRow) *topView {
	v := &topView{
		Time: time.Now(), Directory: s.Directory, Entries: s.Entries, Bytes: s.Bytes, MaxSize: s.MaxSize,
		Kinds: []topRow{}, Compiling: compiling, Remotes: remotes,
	}
	for _, kind := range sorted(s.Kinds) {
		now := s.Kinds[kind]
		row := topRow{Kind: kind, Hits: now.Hits(), Misses: now.Misses, Compiles: now.Compiles}
		if was := last[kind]; last != nil {
			row.New.Hits = since(row.Hits, was.Hits())
			row.New.Misses, row.New.Compiles = since(now.Misses, was.Misses), since(now.Compiles, was.Compiles)
			row.New.Saved = max(now.TimeSaved-was.TimeSaved, 0)
		}
		v.Kinds = append(v.Kinds, row)
	}
	return v
}

// showView prints a view, over the last one if live.
func (c *command) showView(v *topView, live bool) error {
	if c.asJSON {
		return json.NewEncoder(c.stdout).Encode(v)
	}
	if live {
		if _, err := io.WriteString(c.raw, "\x1b[H\x1b[J"); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	printView(w, v)
	return w.Flush()
}

func printView(w io.Writer, v *topView) {
	limit := "unlimited"
	if v.MaxSize > 0 {
		limit = store.FormatSize(v.MaxSize)
	}
	fmt.Fprintf(w, "%s  %s  %s of %s in %s\n\n", v.Time.Format("15:04:05"), line(v.Directory), store.FormatSize(v.Bytes), limit, store.FormatEntries(v.Entries))
	fmt.Fprintln(w, "KIND\tHITS\tNEW\tMISSES\tNEW\tCOMPILES\tNEW\tSAVED NOW")
	for _, r := range v.Kinds {
		fmt.Fprintf(w, "%s\t%d\t+%d\t%d\t+%d\t%d\t+%d\t%s\n", line(r.Kind), r.Hits, r.New.Hits, r.Misses, r.New.Misses,
			r.Compiles, r.New.Compiles, duration(int64(r.New.Saved*1e9)))
	}
	for _, l := range v.Compiling {
		fmt.Fprintf(w, "\ncompiling %s, process %d, for %s", cmp.Or(line(l.Name), l.Key[:12]), l.Pid, age(l.Since))
	}
	for i := range v.Remotes {
		r := &v.Remotes[i]
		fmt.Fprintf(w, "\nremote %s: %s%s", line(r.URL), r.does(), line(r.helperText()))
	}
	fmt.Fprintln(w)
}

// since returns how much a counter has grown. Somebody may have set it to zero.
func since(now, was uint64) uint64 {
	if now < was {
		return now
	}
	return now - was
}
