// The counters of each of the last 400 days.

package store

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"
)

// The days are a file beside the ledger: the counters of each of the last 400 days, per
// kind. It is written after the ledger, under the ledger's lock, and only if something
// was counted; a lookup never touches it. It is a file of its own, so that the ledger's
// format did not change. Like the ledger it is advice: the counters of a damaged day
// are lost.
//
// Day d, in days since 1970-01-01 UTC, has slot d mod 400. A slot, little-endian:
// magic (8), XXH3-64 of the rest that is used (8), d (8), the number of kinds that
// follow (8), and the counters of each kind as in the ledger.
const (
	dayMagic = "jcdays\x00\x01"
	dayHead  = 32
	daySize  = dayHead + maxKinds*kindSize // 10,528 bytes
	daySlots = 400                         // more than a year
	dayNanos = int64(24 * time.Hour)
)

// Day has the counters of one day.
type Day struct {
	Number int64 // days since 1970-01-01 UTC
	Kinds  map[string]*Counters
}

// DayOf returns the number of the day of a time in nanoseconds since 1970.
func DayOf(ns int64) int64 { return max(ns, 0) / dayNanos }

func daySlot(day int64) int64 { return day % daySlots * daySize }

func encodeDay(day int64, t *counterTable) []byte {
	le := binary.LittleEndian
	b := make([]byte, daySize)
	n := t.used()
	copy(b, dayMagic)
	le.PutUint64(b[16:], uint64(day))
	le.PutUint64(b[24:], uint64(n))
	t.encode(b[dayHead:])
	b = b[:dayHead+n*kindSize]
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// parseDay reads a slot of daySize bytes; false if it is free or damaged. It ignores
// bytes after the kinds, which an earlier day has left.
func parseDay(b []byte) (day int64, t counterTable, ok bool) {
	le := binary.LittleEndian
	if len(b) != daySize || string(b[:8]) != dayMagic || le.Uint64(b[24:]) > maxKinds {
		return 0, t, false
	}
	end := dayHead + int(le.Uint64(b[24:]))*kindSize
	if le.Uint64(b[8:]) != xxh3.Hash(b[16:end]) {
		return 0, t, false
	}
	clear(b[end:])
	t.decode(b[dayHead:])
	return int64(le.Uint64(b[16:])), t, true
}

// addDay adds to the counters of a day, 0 for today. The ledger's lock is held.
func (s *Store) addDay(day int64, added *counterTable) {
	if added.used() == 0 {
		return
	}
	if day == 0 || !keepsDay {
		day = DayOf(s.now())
	}
	fd, _, e := s.openToWrite("days")
	if e != 0 {
		return
	}
	defer closeFd(fd)
	b := make([]byte, daySize)
	if _, e := preadFull(fd, b, daySlot(day)); e != 0 {
		return
	}
	of, t, ok := parseDay(b)
	if !ok || of != day {
		t = counterTable{}
	}
	t.merge(added)
	pwriteAll(fd, encodeDay(day, &t), daySlot(day))
}

// Days returns the counters of each day from a day on, in order, with those that this
// process has not written yet. It leaves out days on which nothing was counted, and
// days that are no longer in the file.
func (s *Store) Days(from int64) []Day {
	today := DayOf(s.now())
	first := max(from, today-daySlots+1)
	tables := make([]*counterTable, max(today-first+1, 0))
	add := func(day int64, t *counterTable) {
		if day < first || day > today || t.used() == 0 {
			return
		}
		if at := &tables[day-first]; *at == nil {
			*at = t
		} else {
			(*at).merge(t)
		}
	}
	if fd, _, e := s.openToRead("days"); e == 0 {
		b := make([]byte, daySize)
		for day := first; day <= today; day++ {
			n, _ := preadFull(fd, b, daySlot(day))
			clear(b[n:])
			if of, t, ok := parseDay(b); ok && of == day {
				add(day, &t)
			}
		}
		closeFd(fd)
	}
	p := &s.pending
	p.mu.Lock()
	day, kinds := p.day, p.kinds
	p.mu.Unlock()
	if day == 0 {
		day = today
	}
	add(day, &kinds)
	var days []Day
	for i, t := range tables {
		if t != nil {
			days = append(days, Day{first + int64(i), t.byKind()})
		}
	}
	return days
}

// forgetDays empties the file.
func (s *Store) forgetDays() {
	fd, _, e := s.openToWrite("days")
	if e == 0 {
		unix.Ftruncate(fd, 0)
		closeFd(fd)
	}
}
