// The page: what it says and draws, and that it needs nothing else.

package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"jitcache/core"
)

var made = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func aPage() *Page {
	cubin := core.KindStats{HitsMemory: 900, HitsDisk: 90, Misses: 10, Compiles: 10, CompileTime: 20, TimeSaved: 2000}
	native := core.KindStats{HitsLayer: 5, Misses: 2, Compiles: 2, CompileTime: 0.004}
	total := core.KindStats{
		HitsMemory: 900, HitsDisk: 90, HitsLayer: 5, Misses: 12, TimeSaved: 2000, CompileTime: 20.004,
		MissReasons: map[string]uint64{"absent": 11, "checksum": 1},
	}
	kinds := map[string]core.KindStats{"cubin": cubin, "native": native}
	p := &Page{
		Made: made, Version: "1", Stats: core.Stats{Directory: "/a/cache", Entries: 2, Bytes: 3000, MaxSize: 5 << 30},
		History: core.History{
			Since: "2026-03-01", First: "2026-03-08", Total: total, Kinds: kinds,
			Days: []core.DayStats{{Day: "2026-03-08", Total: total, Kinds: kinds}},
		},
		Entries: NewEntries(made), Log: NewLog("a.log"),
	}
	for _, e := range []core.Listed{
		{Kind: "cubin", Size: 500, File: 1000, Created: made.Add(-time.Minute), Used: made},
		{Kind: "native", Size: 2000, File: 2000, Created: made.AddDate(-2, 0, 0), Used: made.Add(-30 * time.Hour)},
	} {
		p.Entries.Add(&e)
	}
	return p
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wants(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func TestPageSaysAndDrawsWhatWasCounted(t *testing.T) {
	page := written(t, aPage())
	wants(t, page, "/a/cache", "98.8 %", "995 hits, 12 misses", "33.3 min", "2026-03-08, cubin: 990<", "2026-03-08, native: 2<",
		"03-08<", "03-09<", "03-10<", ">absent<", ">checksum<", "1 entry", "within an hour", "within a week", "longer ago")
	if strings.Contains(page, "03-07") {
		t.Error("a day of which nothing is known")
	}
}

// Whatever it shows, the page uses no network and runs no code.
func TestPageNeedsNothingElse(t *testing.T) {
	page := written(t, aPage())
	wants(t, page, "default-src 'none'")
	for _, text := range []string{"http:", "https:", "//", "<script", "<link", "url(", "@import", "src=", "href", "xlink"} {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestEmptyCacheHasAPageToo(t *testing.T) {
	p := &Page{Made: made, History: core.History{Since: "2026-03-01"}, Entries: NewEntries(made)}
	wants(t, written(t, p), "Nothing was counted", "JITCACHE_LOG=miss", "Nothing.")
}

func TestNamesAreTextWhateverIsInThem(t *testing.T) {
	evil := "<script>alert(1)</script>\x1b[2J\" onload=x \u202egnp \xff&'"
	p := aPage()
	p.Stats.Directory = evil
	p.Log.File = evil
	p.Log.line("jitcache[1] miss: "+evil+" (0123456789ab): absent; since 2026-03-01 10:00:00: changed "+evil, made)
	p.History.Total.MissReasons[evil] = 7
	p.History.Kinds[evil] = core.KindStats{Misses: 7, HitsDisk: 1e6}
	p.History.Days[0].Kinds[evil] = core.KindStats{Misses: 7}
	p.Entries.Add(&core.Listed{Kind: evil, File: 100})
	page := written(t, p)
	if strings.Contains(page, "<script") || strings.ContainsAny(page, "\x1b\u202e") || strings.Contains(page, `" onload`) || strings.Contains(page, "\xff") {
		t.Error("a name reached the page as it is")
	}
	wants(t, page, "&#60;script&#62;", `\u001b[2J`, `\u202e`, `\xff&#38;&#39;`)
}

// widthOfColumns returns the width of the page's first column, as a share of the picture.
func widthOfColumns(t *testing.T, days int) (width float64) {
	p := aPage()
	p.History.Days, p.History.First = nil, made.AddDate(0, 0, 1-days).Format(core.DayLayout)
	p.History.Since = p.History.First
	for n := range days {
		p.History.Days = append(p.History.Days, core.DayStats{Day: made.AddDate(0, 0, -n).Format(core.DayLayout), Kinds: p.History.Kinds})
	}
	_, rest, _ := strings.Cut(written(t, p), "<rect class='k0' x='")
	_, rest, _ = strings.Cut(rest, " width='")
	if _, err := fmt.Sscanf(rest, "%f%%", &width); err != nil {
		t.Fatal(err)
	}
	return width
}

func TestColumnOfOneDayIsNeitherALineNorAWall(t *testing.T) {
	for days, want := range map[int][2]float64{1: {20, 30}, 2: {20, 30}, 30: {2, 3.3}, 90: {0.7, 1.1}} {
		if width := widthOfColumns(t, days); width < want[0] || width > want[1] {
			t.Errorf("%d days: a column is %g %% wide", days, width)
		}
	}
}

// A phone has room for 290 points of columns: each date that it shows has 60 of them.
func TestDatesHaveRoomOnAPhone(t *testing.T) {
	for _, n := range []int{1, 7, 30, 90, 365} {
		days := make([]core.DayStats, n)
		for i := range days {
			days[i].Day = made.AddDate(0, 0, i).Format(core.DayLayout)
		}
		var b strings.Builder
		dates(&b, days)
		all, wide := strings.Count(b.String(), "<span"), strings.Count(b.String(), "<span class='wide'")
		if phone := all - wide; phone < 1 || phone > 5 || all > 11 {
			t.Errorf("%d days: %d dates on a phone, %d elsewhere", n, phone, all)
		}
	}
}

func TestNamesOfWhatTookLongestAreSaid(t *testing.T) {
	p := aPage()
	for n := range 30 {
		l := core.Listed{Key: fmt.Sprintf("%064d", n), Kind: "numba", Name: fmt.Sprintf("m.f%02d(float64)", n), Compile: float64(1 + n*7%30)}
		p.Entries.Add(&l)
	}
	_, table, _ := strings.Cut(written(t, p), "What took longest to compile")
	names := strings.Split(table, "<tr><th>m.f")[1:]
	if len(names) != mostCostly {
		t.Fatalf("%d names", len(names))
	}
	last := math.Inf(1)
	for _, row := range names {
		var n int
		fmt.Sscanf(row, "%d", &n)
		if cost := float64(1 + n*7%30); cost > last || cost <= 10 {
			t.Errorf("m.f%02d: %g s after %g s", n, cost, last)
		} else {
			last = cost
		}
	}
}

// A browser repairs nearly anything, so the test parses the pictures as XML.
func TestPicturesAreWellFormed(t *testing.T) {
	p := aPage()
	for i := range 30 {
		p.History.Total.MissReasons[fmt.Sprintf("reason %02d <&>", i)] = uint64(i)
	}
	page := written(t, p)
	pictures := 0
	for _, part := range strings.Split(page, "<figure class='picture'>")[1:] {
		picture, _, ok := strings.Cut(part, "</figure>")
		if !ok {
			t.Fatal("a picture does not end")
		}
		d := xml.NewDecoder(strings.NewReader("<figure>" + picture + "</figure>"))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%v in %s", err, picture)
				break
			}
		}
		if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") || strings.Contains(picture, "='-") {
			t.Errorf("a number that is none: %s", picture)
		}
		pictures++
	}
	if pictures != 9 {
		t.Errorf("%d pictures", pictures)
	}
	wants(t, page, "12 more are left out")
}

func TestLogSaysWhichComponentsHaveChanged(t *testing.T) {
	l := NewLog("log")
	log := strings.Join([]string{
		"2026-03-09T10:00:00.000 jitcache[7] miss: saxpy (0123456789ab): absent",
		"2026-03-09T10:00:00.000 jitcache[7] miss: saxpy (0123456789ac): absent; since 2026-03-08 10:00:00: changed options, source; added arch",
		"jitcache[7] miss: f(a: b) (c) (0123456789ad): absent; since 2026-03-08 10:00:00: changed source",
		"2026-03-09T10:00:00.000 jitcache[7] miss: 0123456789ae: checksum",
		"2026-03-09T10:00:00.000 jitcache[7] miss: a.c (0123456789af): /usr/include/x.h: changed",
		"2026-02-09T10:00:00.000 jitcache[7] miss: before (0123456789af): absent",
		"2026-03-09T10:00:00.000 jitcache[7] info: not stored: x (0123456789af): it reads the clock",
		"jitcache[7] miss: no key", "", "a line of another program", strings.Repeat("x", 1<<20),
		"jitcache[7] miss: after a long line (0123456789af): absent",
	}, "\n")
	if err := l.Read(strings.NewReader(log), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if l.Misses != 6 || l.Explained != 2 {
		t.Errorf("%d misses, %d explained", l.Misses, l.Explained)
	}
	for label, n := range map[string]uint64{"source": 2, "options": 1, "arch (added)": 1} {
		if l.Changed[label] != n {
			t.Errorf("%s: %d, want %d", label, l.Changed[label], n)
		}
	}
	for name, why := range map[string]string{
		"saxpy": "absent; since 2026-03-08 10:00:00: changed options, source; added arch", "0123456789ae": "checksum",
		"a.c": "/usr/include/x.h: changed", "after a long line": "absent",
		"f(a: b) (c)": "absent; since 2026-03-08 10:00:00: changed source",
	} {
		if n := l.names[name]; n == nil || n.why != why {
			t.Errorf("%s: %+v", name, n)
		}
	}
	var b strings.Builder
	l.table(&b)
	wants(t, b.String(), "<th>saxpy<td>2<td>absent; since")
}

func TestScalesEndAtRoundNumbers(t *testing.T) {
	for top, want := range map[float64]float64{0: 0, 1: 1, 1.1: 2, 3: 4, 4.1: 5, 6: 10, 10: 10, 11: 20, 0.003: 0.004, 950: 1000} {
		if got := ceiling(top, 1); got < want*0.999 || got > want*1.001 {
			t.Errorf("%g: %g, want %g", top, got, want)
		}
	}
	for top, want := range map[float64]string{3: "4 s", 51: "100 s", 110: "2 min", 130: "4 min", 2900: "50 min", 5000: "100 min", 7000: "2 h", 9000: "4 h", 0.3: "400 ms"} {
		if got := lasted(ceiling(top, unitOf(lasted(top)))); got != want {
			t.Errorf("%g s: %s, want %s", top, got, want)
		}
	}
}

func TestFiguresAreForPeople(t *testing.T) {
	for want, got := range map[string]string{
		"0": formatCount(0), "950": formatCount(950), "12.5k": formatCount(12500), "3.1M": formatCount(3.1e6), "0 s": lasted(0), "250 ms": lasted(0.25),
		"12.5 s": lasted(12.5), "10 min": lasted(600), "3 h": lasted(10800), "50.0 %": percent(1, 2), "100 %": percent(5, 5),
		"> 99.9 %": percent(99999, 100000), "0.0 %": percent(0, 5),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzLog(f *testing.F) {
	f.Add("jitcache[7] miss: x (0123456789ab): absent; since 2026-03-08 10:00:00: changed a, b; removed c")
	f.Fuzz(func(t *testing.T, line string) {
		l := NewLog("log")
		l.line(line, made)
		var b strings.Builder
		l.table(&b)
		if strings.Contains(b.String(), "<script") {
			t.Error("a mark")
		}
	})
}
