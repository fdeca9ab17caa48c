package cli

import (
	"bufio"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

func (c *command) ls() *ffcli.Command {
	flags := c.flags("ls")
	asJSON := flags.Bool("json", false, "print a JSON array")
	kind := flags.String("kind", "", "only entries of `KIND`")
	last := flags.Int("last", 0, "only the `N` that were used last, in that order")
	return c.new("ls [-json] [-kind KIND] [-last N]", "list the entries, in the order of their keys", flags, 0, 0, func([]string) error {
		cache, _, err := c.open()
		if err != nil {
			return err
		}
		w := bufio.NewWriter(c.stdout)
		p := printer(tablePrinter{w})
		if *asJSON {
			p = &jsonPrinter{w: w}
		}
		if err := list(cache, *kind, *last, p); err != nil {
			return err
		}
		return w.Flush()
	})
}

// list prints entries as it finds them: there may be a million. Only with last it
// keeps some, as many.
func list(cache *core.Cache, kind string, last int, p printer) error {
	if err := p.begin(); err != nil {
		return err
	}
	var found latest
	each := p.entry
	if last > 0 {
		each = func(e *core.Listed) error { kept := *e; found.add(&kept, last); return nil }
	}
	if err := cache.List(context.Background(), kind, each); err != nil {
		return err
	}
	for _, e := range found.inOrder() {
		if err := p.entry(e); err != nil {
			return err
		}
	}
	return p.end()
}

// latest is a heap of entries, that which was used longest ago on top. They are pointers,
// for which Go has its functions that sort anyway: those for a large struct take 25 KB of
// the library.
type latest []*core.Listed

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return l[i].Used.Before(l[j].Used) }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)        { *l = append(*l, x.(*core.Listed)) }
func (l *latest) Pop() any {
	e := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return e
}

// add keeps no more than n.
func (l *latest) add(e *core.Listed, n int) {
	if heap.Push(l, e); len(*l) > n {
		heap.Pop(l)
	}
}

func (l latest) inOrder() []*core.Listed {
	slices.SortFunc(l, func(a, b *core.Listed) int { return b.Used.Compare(a.Used) })
	return l
}

// printer prints a list, an entry at a time.
type printer interface {
	begin() error
	entry(e *core.Listed) error
	end() error
}

// tablePrinter has columns of fixed width: what is wider than the header comes last.
type tablePrinter struct{ w *bufio.Writer }

const tableRow = "%-12s  %-16s  %-9s  %-15s  %-8s  %s\n"

func (p tablePrinter) begin() error {
	_, err := fmt.Fprintf(p.w, tableRow, "KEY", "KIND", "SIZE", "USED", "COMPILE", "NAME")
	return err
}

func (p tablePrinter) entry(e *core.Listed) error {
	_, err := fmt.Fprintf(p.w, tableRow, e.Key[:12], e.Kind, store.FormatSize(e.Size),
		ago(e.Used.UnixNano()), duration(int64(e.Compile*1e9)), e.Name)
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

// ago prints a time for people.
func ago(ns int64) string {
	d := time.Since(time.Unix(0, ns))
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
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
