// Charts, as SVG.

package report

import (
	"fmt"
	"math"
	"strings"

	"jitcache/core"
)

// The pictures are SVG in the page. Everything in them is also text: a column and a bar
// have a title, which a pointer or a screen reader finds.
const (
	width      = 720.0
	leftEdge   = 64.0 // room for the scale
	rightEdge  = 8.0
	plotHeight = 130.0
	topEdge    = 24.0
	bottomEdge = 22.0
	widest     = 36.0 // of a column, so that three days do not fill the picture
	barHeight  = 22.0
	labelRoom  = 220.0
	valueRoom  = 150.0
	mostBars   = 20
)

// colour returns the CSS class of a kind's colour. All kinds from the eighth on share one.
func colour(i int) string { return fmt.Sprintf("k%d", min(i, 7)) }

func legend(b *strings.Builder, kinds []string) {
	b.WriteString("<ul class='legend'>")
	for i, kind := range kinds {
		fmt.Fprintf(b, "<li><svg width='12' height='12' aria-hidden='true'><rect class='%s' width='12' height='12' rx='2' /></svg> %s", colour(i), text(kind))
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
	height := topEdge + plotHeight + bottomEdge
	fmt.Fprintf(&b, "<svg class='picture' viewBox=\"0 0 %g %g\" role='img' aria-label=\"%s\">\n<text class='title' x='0' y='14'>%s</text>\n",
		width, height, text(title), text(title))
	for _, share := range []float64{0, 0.5, 1} {
		y := topEdge + plotHeight*(1-share)
		fmt.Fprintf(&b, "<line class='grid' x1='%g' x2='%g' y1='%.1f' y2='%.1f' />", leftEdge, width-rightEdge, y, y)
		if scale > 0 || share == 0 {
			fmt.Fprintf(&b, "<text class='scale' x='%g' y='%.1f'>%s</text>\n", leftEdge-6, y+4, text(format(scale*share)))
		}
	}
	step := (width - leftEdge - rightEdge) / float64(len(days))
	wide := min(widest, max(step*0.8, step-2))
	every := max(1, int(math.Ceil(72/step))) // a date needs 72 units of room
	for i := range days {
		x := leftEdge + step*(float64(i)+0.5)
		column(&b, x-wide/2, wide, scale, kinds, &days[i], format, value)
		if (len(days)-1-i)%every == 0 {
			fmt.Fprintf(&b, "<text class='day' x='%.1f' y='%g'>%s</text>\n", min(x, width-30), height-6, days[i].Day[5:])
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func column(b *strings.Builder, x, wide, scale float64, kinds []string, day *core.DayStats, format func(float64) string, value func(*core.KindStats) float64) {
	y := topEdge + plotHeight
	for i, kind := range kinds {
		k := day.Kinds[kind]
		v := value(&k)
		if v <= 0 {
			continue
		}
		tall := max(v/scale*plotHeight, 0.5) // the least that can be seen
		y -= tall
		fmt.Fprintf(b, "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>%s, %s: %s</title></rect>\n",
			colour(i), x, y, wide, tall, day.Day, text(kind), text(format(v)))
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
	height := topEdge + barHeight*float64(max(len(shown), 1)) + 6
	fmt.Fprintf(&b, "<svg class='picture' viewBox=\"0 0 %g %g\" role='img' aria-label=\"%s\">\n<text class='title' x='0' y='14'>%s</text>\n",
		width, height, text(title), text(title))
	if len(shown) == 0 {
		fmt.Fprintf(&b, "<text class='value' x='0' y='%g'>none</text>\n", topEdge+16)
	}
	for i, v := range shown {
		y := topEdge + barHeight*float64(i)
		long := 0.0
		if v.value > 0 {
			long = max(v.value/top*(width-labelRoom-valueRoom), 1)
		}
		value := format(v.value)
		if v.note != "" && v.note != value {
			value += ", " + v.note
		}
		fmt.Fprintf(&b, "<text class='label' x='%g' y='%.1f'>%s<title>%s</title></text><rect class='k0' x='%g' y='%.1f' width='%.1f' height='%g' rx='2' />"+
			"<text class='value' x='%.1f' y='%.1f'>%s</text>\n", labelRoom-8, y+15, text(shorten(v.label)), text(v.label), labelRoom, y+3, long,
			barHeight-7, labelRoom+long+6, y+15, text(value))
	}
	b.WriteString("</svg>\n")
	if left := len(all) - len(shown); left > 0 {
		fmt.Fprintf(&b, "<p>%d more are left out.</p>\n", left)
	}
	return b.String()
}

// shorten cuts a label to the room there is. It keeps the end, because the end of a path
// says more.
func shorten(label string) string {
	const most = 30
	if r := []rune(label); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return label
}
