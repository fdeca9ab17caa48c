// Package report makes the page that `jitcache report` writes: pictures of what a cache has
// done and holds, in one file. The page has no script, no font and no address, so opening
// it uses no network.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"jitcache/core"
	"jitcache/core/store"
)

// Page is what a report is made of.
type Page struct {
	Made    time.Time
	Version string
	Stats   core.Stats
	History core.History
	Entries Entries
	Log     *Log // nil if none was read
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, head, escapedText(p.Stats.Directory), style)
	fmt.Fprintf(&b, "<header><h1>jitcache report</h1>\n<p>%s, made %s by jitcache %s</p></header>\n",
		escapedText(p.Stats.Directory), p.Made.Format("2006-01-02 15:04"), escapedText(p.Version))
	p.tiles(&b)
	p.overTime(&b)
	p.missed(&b)
	p.held(&b)
	b.WriteString("</main></body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

const head = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>jitcache report: %s</title>
<style>%s</style></head><body><main>
`

// tiles writes the figures that readers look for first.
func (p *Page) tiles(b *strings.Builder) {
	t := &p.History.Total
	share := "-"
	if all := t.Hits() + t.Misses; all > 0 {
		share = percent(t.Hits(), all)
	}
	limit := "no cap"
	if p.Stats.MaxSize > 0 {
		limit = "of " + store.FormatSize(p.Stats.MaxSize)
	}
	b.WriteString("<section class='tiles' aria-label=\"figures\">\n")
	for _, tile := range [][3]string{
		{share, "of lookups were hits", fmt.Sprintf("%s hits, %s misses", formatCount(float64(t.Hits())), formatCount(float64(t.Misses)))},
		{lasted(t.TimeSaved), "of compiling saved", lasted(t.CompileTime) + " of compiling done"},
		{store.FormatSize(p.Stats.Bytes), limit, fmt.Sprintf("%s, %d evicted", store.FormatEntries(p.Stats.Entries), t.Evictions)},
	} {
		fmt.Fprintf(b, "<div><b>%s</b> <span>%s</span><small>%s</small></div>\n", escapedText(tile[0]), escapedText(tile[1]), escapedText(tile[2]))
	}
	b.WriteString("</section>\n")
}

func percent(part, all uint64) string {
	switch {
	case part == all:
		return "100 %"
	case part*1000 >= all*999:
		return "> 99.9 %" // rounding would say 100.0
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// overTime draws a column for each day, also for days on which nothing was counted.
func (p *Page) overTime(b *strings.Builder) {
	kinds := p.kinds()
	days := p.days()
	b.WriteString("<section><h2>Hits and misses</h2>\n")
	if len(kinds) == 0 {
		fmt.Fprintf(b, "<p>Nothing was counted since %s.</p></section>\n", p.History.Since)
		return
	}
	fmt.Fprintf(b, "<p>By day (UTC) and kind of entry, from %s on.</p>\n", days[0].Day)
	legend(b, kinds)
	b.WriteString(columns("Hits per day", kinds, days, formatCount, func(k *core.KindStats) float64 { return float64(k.Hits()) }))
	b.WriteString(columns("Misses per day", kinds, days, formatCount, func(k *core.KindStats) float64 { return float64(k.Misses) }))
	p.kindTable(b, kinds)
	b.WriteString("</section>\n<section><h2>Time</h2>\n<p>What hits would have taken to compile, and what compiling has taken.</p>\n")
	legend(b, kinds)
	b.WriteString(columns("Saved per day", kinds, days, lasted, func(k *core.KindStats) float64 { return k.TimeSaved }))
	b.WriteString(columns("Compiled per day", kinds, days, lasted, func(k *core.KindStats) float64 { return k.CompileTime }))
	b.WriteString("</section>\n")
}

// kinds returns the kinds with any lookup or compile, the busiest first.
func (p *Page) kinds() (kinds []string) {
	busy := func(kind string) uint64 {
		k := p.History.Kinds[kind]
		return k.Hits() + k.Misses + k.Compiles
	}
	for kind := range p.History.Kinds {
		if busy(kind) > 0 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if x, y := busy(a), busy(b); x != y {
			return int(int64(y) - int64(x))
		}
		return strings.Compare(a, b)
	})
	return kinds
}

// days returns all days from the first that has counters to the day of the report.
func (p *Page) days() (days []core.DayStats) {
	known := map[string]core.DayStats{}
	for _, d := range p.History.Days {
		known[d.Day] = d
	}
	last := p.Made.UTC()
	day, err := time.Parse(core.DayLayout, max(p.History.Since, p.History.First))
	if err != nil {
		day = last
	}
	for ; !day.After(last); day = day.AddDate(0, 0, 1) {
		name := day.Format(core.DayLayout)
		d := known[name]
		d.Day = name
		days = append(days, d)
	}
	return days
}

func (p *Page) kindTable(b *strings.Builder, kinds []string) {
	b.WriteString("<div class='wrap'><table><thead><tr><th>kind<th>hits<th class='wide'>of them in memory<th>misses<th>compiles<th>saved<th>compiled for<th class='wide'>evicted</tr></thead><tbody>\n")
	row := func(name string, k core.KindStats) {
		fmt.Fprintf(b, "<tr><th>%s<td>%d<td class='wide'>%d<td>%d<td>%d<td>%s<td>%s<td class='wide'>%d</tr>\n", escapedText(name), k.Hits(), k.HitsMemory, k.Misses,
			k.Compiles, lasted(k.TimeSaved), lasted(k.CompileTime), k.Evictions)
	}
	for _, kind := range kinds {
		row(kind, p.History.Kinds[kind])
	}
	row("total", p.History.Total)
	b.WriteString("</tbody></table></div>\n")
}

// missed shows the reasons of misses, and which components of their keys had changed.
func (p *Page) missed(b *strings.Builder) {
	t := &p.History.Total
	b.WriteString("<section><h2>What missed, and why</h2>\n")
	b.WriteString(bars("Reasons of misses", counted(t.MissReasons), formatCount))
	if len(t.NotReasons) > 0 {
		b.WriteString(bars("Reasons why results were not stored", counted(t.NotReasons), formatCount))
	}
	switch {
	case p.Log == nil:
		b.WriteString("<p>A log says which component of a key has changed: run the programs with <code>JITCACHE_LOG=miss</code> and " +
			"<code>JITCACHE_LOG_FILE=FILE</code>, then <code>jitcache report -log FILE</code>.</p>\n")
	case p.Log.Misses == 0:
		fmt.Fprintf(b, "<p>%s has no miss.</p>\n", escapedText(p.Log.File))
	default:
		fmt.Fprintf(b, "<p>%d misses in %s; %d of them under a name that was stored before.</p>\n",
			p.Log.Misses, escapedText(p.Log.File), p.Log.Explained)
		if len(p.Log.Changed) > 0 {
			b.WriteString(bars("Components that have changed", counted(p.Log.Changed), formatCount))
		}
		p.Log.table(b)
	}
	b.WriteString("</section>\n")
}

// held shows what the directory holds now.
func (p *Page) held(b *strings.Builder) {
	e := &p.Entries
	b.WriteString("<section><h2>What the cache holds</h2>\n")
	if e.number == 0 {
		b.WriteString("<p>Nothing.</p></section>\n")
		return
	}
	size := func(v float64) string { return store.FormatSize(int64(v)) }
	b.WriteString(bars("Bytes by kind", e.byKind(), size))
	b.WriteString(bars("Entries by size", e.sizes.all(), formatCount))
	b.WriteString(bars("Bytes by the time since they were made", e.made.all(), size))
	b.WriteString(bars("Bytes by the time since they were used", e.used.all(), size))
	e.costlyTable(b)
	b.WriteString("</section>\n")
}
