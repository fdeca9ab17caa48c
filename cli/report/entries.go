// What a directory holds, by kind, size and age.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"jitcache/core"
	"jitcache/core/store"
)

// bar is a value with its label.
type bar struct {
	label string
	value float64
	note  string // beside the value, "" for none
}

// counted returns counts as bars, the largest first.
func counted(m map[string]uint64) []bar {
	var found []bar
	for label, n := range m {
		found = append(found, bar{label, float64(n), ""})
	}
	return largest(found)
}

func largest(bars []bar) []bar {
	slices.SortFunc(bars, func(a, b bar) int {
		if a.value != b.value {
			return int(b.value - a.value)
		}
		return strings.Compare(a.label, b.label)
	})
	return bars
}

// classes are intervals of sizes or times, each up to its limit, exclusive.
type classes struct {
	limits []int64
	labels []string
	values []float64
	counts []int
}

func (c *classes) addSample(at int64, value float64) {
	if c.values == nil {
		c.values, c.counts = make([]float64, len(c.labels)), make([]int, len(c.labels))
	}
	i := 0
	for i < len(c.limits) && at >= c.limits[i] {
		i++
	}
	c.values[i] += value
	c.counts[i]++
}

// all returns the classes from the first to the last that is not empty.
func (c *classes) all() []bar {
	first, last := len(c.labels), -1
	for i, n := range c.counts {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	var found []bar
	for i := first; i <= last; i++ {
		b := bar{c.labels[i], c.values[i], store.FormatEntries(c.counts[i])}
		if c.values[i] == float64(c.counts[i]) {
			b.note = "" // the value is the count itself
		}
		found = append(found, b)
	}
	return found
}

// Entries adds up what a directory holds.
type Entries struct {
	now               time.Time
	number            int
	kinds             map[string]*bar
	numbers           map[string]int
	sizes, made, used classes
	costly            []core.Listed // those that took longest to compile, the first first
}

// mostCostly is how many of them are kept.
const mostCostly = 20

// NewEntries returns an empty sum. Ages are counted back from now.
func NewEntries(now time.Time) Entries {
	e := Entries{now: now, kinds: map[string]*bar{}, numbers: map[string]int{}}
	const most = 1 << 30
	e.sizes.labels = []string{"up to " + store.FormatSize(1<<10)}
	for size := int64(1 << 10); size <= most; size *= 4 {
		e.sizes.limits = append(e.sizes.limits, size)
		label := "up to " + store.FormatSize(4*size)
		if size == most {
			label = "more"
		}
		e.sizes.labels = append(e.sizes.labels, label)
	}
	const day = 24 * time.Hour
	for _, age := range []struct {
		label string
		up    time.Duration
	}{
		{"an hour", time.Hour}, {"a day", day}, {"a week", 7 * day}, {"a month", 30 * day}, {"three months", 91 * day}, {"a year", 365 * day},
	} {
		e.made.limits = append(e.made.limits, int64(age.up))
		e.made.labels = append(e.made.labels, "within "+age.label)
	}
	e.made.labels = append(e.made.labels, "longer ago")
	e.used = e.made
	return e
}

// Add adds an entry.
func (e *Entries) Add(l *core.Listed) {
	e.number++
	kind := e.kinds[l.Kind]
	if kind == nil {
		kind = &bar{label: l.Kind}
		e.kinds[l.Kind] = kind
	}
	kind.value += float64(l.File)
	e.numbers[l.Kind]++
	e.sizes.addSample(l.Size, 1)
	e.made.addSample(int64(e.now.Sub(l.Created)), float64(l.File))
	e.used.addSample(int64(e.now.Sub(l.Used)), float64(l.File))
	if l.Compile > 0 && !core.IsInternal(l.Kind) {
		e.addCostly(l)
	}
}

func (e *Entries) addCostly(l *core.Listed) {
	at, _ := slices.BinarySearchFunc(e.costly, l, func(a core.Listed, l *core.Listed) int {
		if a.Compile != l.Compile {
			return cmp.Compare(l.Compile, a.Compile)
		}
		return strings.Compare(a.Key, l.Key)
	})
	if at < mostCostly {
		e.costly = slices.Insert(e.costly, at, *l)
		e.costly = e.costly[:min(len(e.costly), mostCostly)]
	}
}

// costlyTable lists what took longest to compile by its name: of Numba, the functions with their types.
func (e *Entries) costlyTable(b *strings.Builder) {
	if len(e.costly) == 0 {
		return
	}
	b.WriteString("<h3>What took longest to compile</h3>\n<div class='wrap'><table class='texts'><thead><tr><th>name<th>kind<th>compiled for<th>bytes<th>last used</tr></thead><tbody>\n")
	for i := range e.costly {
		l := &e.costly[i]
		name := l.Name
		if name == "" {
			name = l.Key[:min(len(l.Key), 12)]
		}
		fmt.Fprintf(b, "<tr><th>%s<td>%s<td>%s<td>%s<td>%s</tr>\n", escapedText(name), escapedText(l.Kind), lasted(l.Compile), store.FormatSize(l.Size), l.Used.Format("2006-01-02"))
	}
	b.WriteString("</tbody></table></div>\n")
}

func (e *Entries) byKind() []bar {
	var found []bar
	for kind, b := range e.kinds {
		found = append(found, bar{kind, b.value, store.FormatEntries(e.numbers[kind])})
	}
	return largest(found)
}
