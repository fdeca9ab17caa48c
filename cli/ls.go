// jitcache ls.

package cli

import (
	"bufio"
	"container/heap"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// maxListed is how many entries `jitcache ls` prints as text by default.
const maxListed = 100

// listing says which entries to print, and in which order.
type listing struct {
	kind  string
	notes bool                        // with the cache's own records
	limit int                         // 0: all
	order func(a, b *core.Listed) int // nil: as they are found
	total int                         // how many entries were found
}

// orders are the values of -sort. Each puts what users look for first: the newest, the
// largest, the most costly.
var orders = map[string]func(a, b *core.Listed) int{
	"used": func(a, b *core.Listed) int { return b.Used.Compare(a.Used) },
	"age":  func(a, b *core.Listed) int { return b.Created.Compare(a.Created) },
	"size": func(a, b *core.Listed) int { return int(b.Size - a.Size) },
	"cost": func(a, b *core.Listed) int { return int(1e9 * (b.Compile - a.Compile)) },
	"name": func(a, b *core.Listed) int { return strings.Compare(a.Name, b.Name) },
	"key":  nil, // the store lists entries by key
}

func (c *command) lsCommand() *ffcli.Command {
	flags := c.array("ls")
	kind := flags.String("kind", "", "list only entries of `KIND`")
	all := flags.Bool("all", false, "list the cache's own records too")
	limit := flags.Int("n", maxListed, "list at most `N`, 0 for all; with -json the default is all")
	order := flags.String("sort", "", "sort by `ORDER`: used (the default), age, size, cost, name or key")
	last := flags.Int("last", 0, "list the last `N` that were used: -sort used -n N")
	return c.newCommand("ls [-all] [-kind KIND] [-n N] [-sort ORDER] [-json]", "list the entries", flags, 0, 0, func([]string) error {
		given := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		l := listing{kind: *kind, notes: *all || *kind != "", limit: *limit}
		switch {
		case *last > 0:
			*order, l.limit = "used", *last
		case c.asJSON && !given["n"]:
			l.limit = 0
		}
		if *order == "" {
			if *order = "used"; l.limit == 0 {
				*order = "key"
			}
		}
		if *limit < 0 || *last < 0 {
			return wrong("-n and -last want a number that is not negative")
		}
		ok := false
		if l.order, ok = orders[*order]; !ok {
			return wrong(fmt.Sprintf("%q: want one of %s", *order, strings.Join(sorted(orders), ", ")))
		}
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		w := bufio.NewWriter(c.stdout)
		p := printer(tablePrinter{w})
		if c.asJSON {
			p = &jsonPrinter{w: w}
		}
		if err := l.print(cache, p); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if c.terminal && l.limit > 0 && l.total > l.limit {
			fmt.Fprintf(c.stderr, "%d of %d entries; `jitcache ls -n 0` lists all\n", l.limit, l.total)
		}
		return nil
	})
}

// print prints entries as it finds them if no order is set, because there may be a
// million. Otherwise it keeps as many as it prints.
func (l *listing) print(cache *core.Cache, p printer) error {
	if err := p.begin(); err != nil {
		return err
	}
	found := first{order: l.order, most: l.limit}
	err := cache.List(context.Background(), l.kind, func(e *core.Listed) error {
		if core.IsInternal(e.Kind) && !l.notes {
			return nil
		}
		l.total++
		switch {
		case l.order != nil:
			kept := *e
			found.addEntry(&kept)
		case l.limit == 0 || l.total <= l.limit:
			return p.entry(e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range found.inOrder() {
		if err := p.entry(e); err != nil {
			return err
		}
	}
	return p.end()
}

// first keeps the first entries of an order, in a heap with the last of them on top. It
// holds pointers, because the program has Go's sort functions for pointers anyway: those
// for a large struct would add 25 KB.
type first struct {
	order   func(a, b *core.Listed) int
	most    int // 0: all
	entries []*core.Listed
}

func (f *first) Len() int           { return len(f.entries) }
func (f *first) Less(i, j int) bool { return f.order(f.entries[i], f.entries[j]) > 0 }
func (f *first) Swap(i, j int)      { f.entries[i], f.entries[j] = f.entries[j], f.entries[i] }
func (f *first) Push(x any)         { f.entries = append(f.entries, x.(*core.Listed)) }
func (f *first) Pop() any {
	e := f.entries[len(f.entries)-1]
	f.entries = f.entries[:len(f.entries)-1]
	return e
}

func (f *first) addEntry(e *core.Listed) {
	if heap.Push(f, e); f.most > 0 && len(f.entries) > f.most {
		heap.Pop(f)
	}
}

func (f *first) inOrder() []*core.Listed {
	slices.SortFunc(f.entries, f.order)
	return f.entries
}

// printer prints a list, an entry at a time.
type printer interface {
	begin() error
	entry(e *core.Listed) error
	end() error
}

// tablePrinter prints columns of fixed width. The name comes last, because it may be wider.
type tablePrinter struct{ w *bufio.Writer }

const tableRow = "%-12s  %-16s  %9s  %4s  %4s  %8s  %s\n"

func (p tablePrinter) begin() error {
	_, err := fmt.Fprintf(p.w, string(bold)+tableRow, "KEY", "KIND", "SIZE", "AGE", "USED", "COMPILE", "NAME"+string(normal))
	return err
}

func (p tablePrinter) entry(e *core.Listed) error {
	_, err := fmt.Fprintf(p.w, tableRow, e.Key[:12], e.Kind, store.FormatSize(e.Size),
		age(e.Created), age(e.Used), duration(int64(e.Compile*1e9)), line(e.Name))
	return err
}

func (p tablePrinter) end() error { return nil }

type jsonPrinter struct {
	w    *bufio.Writer
	some bool
}

func (p *jsonPrinter) begin() error {
	_, err := p.w.WriteString("[")
	return err
}

func (p *jsonPrinter) entry(e *core.Listed) error {
	text, err := json.MarshalIndent(e, "  ", "  ")
	if err != nil {
		return err
	}
	before := "\n  "
	if p.some {
		before = ",\n  "
	}
	p.some = true
	p.w.WriteString(before)
	_, err = p.w.Write(text)
	return err
}

func (p *jsonPrinter) end() error {
	after := "]\n"
	if p.some {
		after = "\n]\n"
	}
	_, err := p.w.WriteString(after)
	return err
}

// age formats the time since t: 40s, 5m, 3h, 12d, 2y.
func age(t time.Time) string {
	d := max(time.Since(t), 0)
	for _, unit := range []struct {
		name string
		of   time.Duration
		up   time.Duration
	}{{"s", time.Second, 2 * time.Minute}, {"m", time.Minute, 2 * time.Hour}, {"h", time.Hour, 48 * time.Hour}, {"d", 24 * time.Hour, 730 * 24 * time.Hour}} {
		if d < unit.up {
			return fmt.Sprintf("%d%s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%dy", d/(365*24*time.Hour))
}

func duration(ns int64) string {
	if ns == 0 {
		return "-"
	}
	d := time.Duration(ns)
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
