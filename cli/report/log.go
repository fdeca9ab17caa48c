// The misses in a log.

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Log is what the lines of a log say of misses (JITCACHE_LOG=miss).
type Log struct {
	File      string
	Misses    int
	Explained int               // misses under a name that was stored before
	Changed   map[string]uint64 // labels of components, and how many misses each explains
	names     map[string]*missedName
}

// missedName is what missed under one name.
type missedName struct {
	name string
	n    int
	why  string // of the last of them
}

// mostNames bounds the memory for a log whose names are new each time.
const mostNames = 100_000

// NewLog returns a log without lines.
func NewLog(file string) *Log {
	return &Log{File: file, Changed: map[string]uint64{}, names: map[string]*missedName{}}
}

// Read adds the misses of a log that happened since a time, and those whose time cannot be
// read. Other lines are ignored.
func (l *Log) Read(r io.Reader, since time.Time) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, cut, err := in.ReadLine()
		for cut && err == nil { // too long for a line of ours
			line = nil
			_, cut, err = in.ReadLine()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		l.line(string(line), since)
	}
}

// line reads one line: `TIME jitcache[PID] miss: NAME (KEY): WHY`, or without a name
// `miss: KEY: WHY`. Where lines go to standard error there is no time.
func (l *Log) line(line string, since time.Time) {
	before, said, ok := strings.Cut(line, "] miss: ")
	stamp, _, ours := strings.Cut(before, "jitcache[")
	if !ok || !ours {
		return
	}
	if at, err := time.ParseInLocation("2006-01-02T15:04:05.000 ", stamp, time.Local); err == nil && at.Before(since) {
		return
	}
	name, why, ok := splitLabel(said)
	if !ok {
		return
	}
	l.Misses++
	// `REASON; since TIME: changed a, b; added c; removed d`
	if _, difference, ok := strings.Cut(why, "; since "); ok && len(difference) > len("2006-01-02 15:04:05: ") {
		l.Explained++
		l.differs(difference[len("2006-01-02 15:04:05: "):])
	}
	n := l.names[name]
	if n == nil {
		if len(l.names) == mostNames {
			return
		}
		n = &missedName{name: name}
		l.names[name] = n
	}
	n.n++
	n.why = why
}

func (l *Log) differs(text string) {
	for part := range strings.SplitSeq(text, "; ") {
		what, labels, ok := strings.Cut(part, " ")
		if !ok || what != "changed" && what != "added" && what != "removed" {
			continue
		}
		for label := range strings.SplitSeq(labels, ", ") {
			if what != "changed" {
				label += " (" + what + ")"
			}
			l.Changed[label]++
		}
	}
}

// splitLabel splits `NAME (0123456789ab): WHY`, or `0123456789ab: WHY`.
func splitLabel(said string) (name, why string, ok bool) {
	const digits = 12
	if len(said) > digits+1 && isKey(said[:digits]) && strings.HasPrefix(said[digits:], ": ") {
		return said[:digits], said[digits+2:], true
	}
	for at := 0; ; {
		i := strings.Index(said[at:], " (")
		if i < 0 {
			return "", "", false
		}
		at += i + 2
		if rest := said[at:]; len(rest) > digits && isKey(rest[:digits]) && strings.HasPrefix(rest[digits:], "): ") {
			return said[:at-2], rest[digits+3:], true
		}
	}
}

func isKey(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// mostRows is how many names are listed.
const mostRows = 25

// table lists the names that missed most often.
func (l *Log) table(b *strings.Builder) {
	var all []bar
	for _, n := range l.names {
		all = append(all, bar{n.name, float64(n.n), n.why})
	}
	all = largest(all)
	b.WriteString("<table class='texts'><thead><tr><th>name<th>misses<th>reason of the last</tr></thead><tbody>\n")
	for _, n := range all[:min(len(all), mostRows)] {
		fmt.Fprintf(b, "<tr><th>%s<td>%g<td>%s</tr>\n", escapedText(n.label), n.value, escapedText(n.note))
	}
	b.WriteString("</tbody></table>\n")
	if left := len(all) - mostRows; left > 0 {
		fmt.Fprintf(b, "<p>%d more names are left out.</p>\n", left)
	}
}
