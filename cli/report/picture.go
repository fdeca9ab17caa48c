// Charts, as HTML and SVG.

package report

import (
	"fmt"
	"math"
	"strings"

	"jitcache/core"
)

// Pictures are as wide as the page, and their texts are texts of the page: only what is between
// the texts shrinks, so a phone can show them. Widths are shares of 100. A column has a title,
// which a pointer or a screen reader finds.
const (
	plotHeight = 130.0
	wideRoom   = 640.0 // for columns on a screen, in points
	narrowRoom = 290.0 // on a phone
	dateRoom   = 60.0
	widest     = 25.0 // of a column: one day has a column, and not a wall or a line
	mostBars   = 20
)

// colour returns the CSS class of a kind's colour. All kinds from the eighth on share one.
func colour(i int) string { return fmt.Sprintf("k%d", min(i, 7)) }

func legend(b *strings.Builder, kinds []string) {
	b.WriteString("<ul class='legend'>")
	for i, kind := range kinds {
		fmt.Fprintf(b, "<li><svg width='12' height='12' aria-hidden='true'><rect class='%s' width='12' height='12' rx='2' /></svg> %s", colour(i), escapedText(kind))
	}
	b.WriteString("</ul>\n")
}

// columns draws a column for each day, with a piece for each kind.
func columns(title string, kinds []string, days []core.DayStats, format func(float64) string, value func(*core.KindStats) float64) string {
	top := 0.0
	for i := range days {
		sum := 0.0
		for _, kind := range kinds {
			k := days[i].Kinds[kind]
			sum += value(&k)
		}
		top = max(top, sum)
	}
	scale := ceiling(top, unitOf(format(top)))
	var b strings.Builder
	fmt.Fprintf(&b, "<figure class='picture'><figcaption>%s</figcaption>\n<div class='plot'><div class='scale' aria-hidden='true'>", escapedText(title))
	shares := []float64{1, 0.5, 0}
	for _, share := range shares {
		said := ""
		if scale > 0 || share == 0 {
			said = format(scale * share)
		}
		fmt.Fprintf(&b, "<span>%s</span>", escapedText(said))
	}
	fmt.Fprintf(&b, "</div>\n<svg width='100%%' height='%g' role='img' aria-label=\"%s\">\n", plotHeight+1, escapedText(title))
	for _, share := range shares {
		fmt.Fprintf(&b, "<line class='grid' x1='0' x2='100%%' y1='%.1f' y2='%.1f' />", plotHeight*(1-share)+0.5, plotHeight*(1-share)+0.5)
	}
	b.WriteString("\n")
	step := 100 / float64(len(days))
	wide := min(widest, step*0.8)
	for i := range days {
		column(&b, step*(float64(i)+0.5)-wide/2, wide, scale, kinds, &days[i], format, value)
	}
	b.WriteString("</svg>\n")
	dates(&b, days)
	b.WriteString("</div></figure>\n")
	return b.String()
}

// dates writes the days below their columns, as many as there is room for, the last one among them.
func dates(b *strings.Builder, days []core.DayStats) {
	n := float64(len(days))
	every := max(1, int(math.Ceil(dateRoom*n/wideRoom)))
	onPhone := every * max(1, int(math.Ceil(dateRoom*n/narrowRoom/float64(every))))
	b.WriteString("<div class='days'>")
	for i := range days {
		back := len(days) - 1 - i
		if back%every != 0 {
			continue
		}
		class := ""
		if back%onPhone != 0 {
			class = " class='wide'"
		}
		fmt.Fprintf(b, "<span%s style='left:%.2f%%'>%s</span>", class, 100*(float64(i)+0.5)/n, days[i].Day[5:])
	}
	b.WriteString("</div>\n")
}

func column(b *strings.Builder, x, wide, scale float64, kinds []string, day *core.DayStats, format func(float64) string, value func(*core.KindStats) float64) {
	y := plotHeight
	for i, kind := range kinds {
		k := day.Kinds[kind]
		v := value(&k)
		if v <= 0 {
			continue
		}
		tall := max(v/scale*plotHeight, 0.5) // the least that can be seen
		y -= tall
		fmt.Fprintf(b, "<rect class='%s' x='%.2f%%' y='%.1f' width='%.2f%%' height='%.1f'><title>%s, %s: %s</title></rect>\n",
			colour(i), x, max(y, 0), wide, tall, day.Day, escapedText(kind), escapedText(format(v)))
	}
}

// ceiling returns where a scale ends: 1, 2, 4 or 5 times a power of ten, in the unit in
// which the value is written.
func ceiling(top float64, unit float64) float64 {
	if top <= 0 {
		return 0
	}
	power := unit * math.Pow(10, math.Floor(math.Log10(top/unit)))
	for _, n := range []float64{1, 2, 4, 5} {
		if top <= n*power {
			return n * power
		}
	}
	return 10 * power
}

// bars draws a bar for each value, one below the other, and says how many it leaves out.
func bars(title string, all []bar, format func(float64) string) string {
	shown := all[:min(len(all), mostBars)]
	top := 0.0
	for _, v := range shown {
		top = max(top, v.value)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<figure class='picture'><figcaption>%s</figcaption>\n<dl>\n", escapedText(title))
	if len(shown) == 0 {
		b.WriteString("<dt></dt><dd>none</dd>\n")
	}
	for _, v := range shown {
		share := 0.0
		if v.value > 0 {
			share = v.value / top
		}
		value := format(v.value)
		if v.note != "" && v.note != value {
			value += ", " + v.note
		}
		fmt.Fprintf(&b, "<dt>%s</dt><dd><i style='width:calc((100%% - 11em) * %.4f + 1px)'></i> %s</dd>\n", escapedText(v.label), share, escapedText(value))
	}
	b.WriteString("</dl></figure>\n")
	if left := len(all) - len(shown); left > 0 {
		fmt.Fprintf(&b, "<p>%d more are left out.</p>\n", left)
	}
	return b.String()
}
