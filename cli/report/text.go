// Text, numbers and times in HTML.

package report

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapedText returns a foreign text, such as a name or a path, as HTML that shows it: it escapes
// markup, and characters that a browser would obey or hide.
func escapedText(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r < ' ' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Noncharacter_Code_Point, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		case strings.ContainsRune(`&<>"'`, r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// formatCount writes a number for people: 950, 12.5k, 3.1M.
func formatCount(v float64) string {
	switch {
	case v < 1000:
		return fmt.Sprintf("%g", math.Round(v*10)/10)
	case v < 1e6:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.3gM", v/1e6)
	}
	return fmt.Sprintf("%.3gG", v/1e9)
}

// lasted writes seconds for people. A unit goes up to 100 inclusive, so that a scale may
// end there.
func lasted(seconds float64) string {
	switch {
	case seconds <= 0:
		return "0 s"
	case seconds < 1e-3:
		return fmt.Sprintf("%.3g µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	case seconds <= 100:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds <= 100*60:
		return fmt.Sprintf("%.3g min", seconds/60)
	case seconds < 1e6*3600:
		return fmt.Sprintf("%.4g h", seconds/3600)
	}
	return fmt.Sprintf("%.3g years", seconds/3600/24/365)
}

// unitOf returns the unit of a text of lasted, in seconds. It is 1 for minor units and for
// any other text.
func unitOf(text string) float64 {
	switch {
	case strings.HasSuffix(text, " min"):
		return 60
	case strings.HasSuffix(text, " h"):
		return 3600
	}
	return 1
}

// style has the colours of Okabe and Ito, which colour-blind people can tell apart, in the
// order in which they differ most.
const style = `
:root { color-scheme: light dark; --ink: #1c1e21; --weak: #5c6066; --paper: #fff; --panel: #f4f5f7; --line: #d5d8dd }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e9eb; --weak: #a3a8af; --paper: #16181b; --panel: #212429; --line: #3a3f46 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 760px; margin: 0 auto; padding: 24px 16px 48px }
h1 { font-size: 24px; margin: 0 } h2 { font-size: 18px; margin: 36px 0 4px } h3 { font-size: 13px; margin: 16px 0 0 }
header p, section > p { color: var(--weak); margin: 2px 0 10px; overflow-wrap: anywhere }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 12px; margin: 20px 0 }
.tiles div { background: var(--panel); border-radius: 8px; padding: 12px 14px }
.tiles b { font-size: 24px; display: block } .tiles small { display: block; color: var(--weak) }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; margin: 4px 0 10px }
.picture { margin: 14px 0; font-size: 12px } figcaption { font-weight: 600; margin-bottom: 6px }
.plot { display: grid; grid-template-columns: 4.5em 1fr; column-gap: 6px; padding-right: 14px } .plot svg { display: block }
.scale { position: relative; height: 131px; color: var(--weak); text-align: right }
.scale span { position: absolute; right: 0; line-height: 1 } .scale span:nth-child(2) { top: 59px } .scale span:nth-child(3) { bottom: 0 }
.days { grid-column: 2; position: relative; height: 1.8em; color: var(--weak) } .days span { position: absolute; transform: translateX(-50%); top: 4px; white-space: nowrap }
svg .grid { stroke: var(--line) }
dl { display: grid; grid-template-columns: minmax(0, 220px) minmax(0, 1fr); gap: 3px 10px; margin: 0 }
dt { text-align: right; overflow-wrap: anywhere } dd { margin: 0 } dd i { display: inline-block; height: 14px; border-radius: 2px; background: #0072b2; vertical-align: text-bottom }
.k0 { fill: #0072b2 } .k1 { fill: #e69f00 } .k2 { fill: #009e73 } .k3 { fill: #cc79a7 }
.k4 { fill: #56b4e9 } .k5 { fill: #d55e00 } .k6 { fill: #b8a80a } .k7 { fill: #8b9098 }
table { border-collapse: collapse; width: 100%; font-size: 13px; margin: 10px 0; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: 4px 6px; border-bottom: 1px solid var(--line); font-weight: 400; vertical-align: top }
thead th { color: var(--weak) } th:first-child, .texts th, .texts td { text-align: left } .texts tbody * { overflow-wrap: anywhere } tbody th { font-weight: 600 }
table:not(.texts) td { white-space: nowrap }
.wrap { overflow-x: auto }
@media (max-width: 560px) { table { font-size: 12px } th, td { padding: 4px 2px } .wide { display: none } dl { grid-template-columns: 1fr } dt { text-align: left; margin-top: 4px } }
code { background: var(--panel); padding: 1px 4px; border-radius: 4px; font-size: 13px }
`
