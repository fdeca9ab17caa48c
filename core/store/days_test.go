// Counters by day.

package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/zeebo/xxh3"
)

// noon is the middle of a day, in unix nanoseconds.
func noon(day int64) int64 { return day*dayNanos + dayNanos/2 }

// on sets the clock of a store.
func on(s *Store, day int64) { s.now = func() int64 { return noon(day) } }

const today = int64(20_000)

//jitcache:control anyday
func TestCountsAreOfTheDayOnWhichTheyWereCounted(t *testing.T) {
	s := open(t)
	on(s, today)
	s.CountHit(HitsDisk, []byte("cubin"), 5)
	on(s, today+1) // nothing was due to be written
	s.Count([]byte("native"), MissCounter(Absent), 2)
	on(s, today+3)
	s.Flush()
	s.Count([]byte("cubin"), Compiles, 1)
	s.Flush()
	days := s.Days(0)
	if len(days) != 2 || days[0].Number != today || days[1].Number != today+3 {
		t.Fatalf("%v", days)
	}
	first, last := days[0].Kinds, days[1].Kinds
	if first["cubin"][HitsDisk] != 1 || first["cubin"][TimeSaved] != 5 || first["native"].Misses() != 2 ||
		first["cubin"][Compiles] != 0 || last["cubin"][Compiles] != 1 || last["native"] != nil {
		t.Errorf("%v, then %v", first, last)
	}
	if days := s.Days(today + 1); len(days) != 1 {
		t.Errorf("from the day after: %v", days)
	}
}

func TestDaysOfTwoStoresAddUpAndWhatIsNotWrittenYetCounts(t *testing.T) {
	a := open(t)
	b := open(t, dir(a.Root()))
	a.Count([]byte("cubin"), Compiles, 3)
	b.Count([]byte("cubin"), Compiles, 4)
	a.Flush()
	b.Flush()
	b.Count([]byte("cubin"), Compiles, 1)
	b.Count([]byte("native"), Puts, 2)
	days := b.Days(0)
	if len(days) != 1 || days[0].Kinds["cubin"][Compiles] != 8 || days[0].Kinds["native"][Puts] != 2 {
		t.Errorf("%v", days)
	}
	if days = a.Days(0); len(days) != 1 || days[0].Kinds["cubin"][Compiles] != 7 {
		t.Errorf("%v", days)
	}
}

func TestDaysAndLedgerCountTheSame(t *testing.T) {
	s := open(t, size(40_000))
	for i := range 50 {
		put(t, s, testKey(t, i), payload(i, 2000))
		s.Count([]byte("generic"), Puts, 1)
		get(t, s, testKey(t, i))
		s.CountHit(HitsDisk, []byte("generic"), 3)
		s.CountRefused([]byte("other"), NoSpace)
	}
	s.Flush()
	if _, err := s.Trim(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Clear(context.Background(), "", nil); err != nil {
		t.Fatal(err)
	}
	s.Flush()
	days, kinds := s.Days(0), s.Usage().Kinds
	if len(days) != 1 || len(kinds) == 0 || kinds["generic"][Evictions] == 0 || kinds["generic"][Removals] == 0 {
		t.Fatalf("%d days, kinds %v", len(days), kinds)
	}
	for kind, c := range kinds {
		if d := days[0].Kinds[kind]; d == nil || *d != *c {
			t.Errorf("%s: ledger %v\ndays %v", kind, c, d)
		}
	}
}

func TestFourHundredDaysAreRemembered(t *testing.T) {
	s := open(t)
	for i := range int64(2 * daySlots) {
		on(s, today+i)
		s.Count([]byte("cubin"), Puts, uint64(i+1))
		s.Flush()
	}
	days := s.Days(0)
	if len(days) != daySlots {
		t.Fatalf("%d days", len(days))
	}
	for i, d := range days {
		if n := int64(i) + daySlots; d.Number != today+n || d.Kinds["cubin"][Puts] != uint64(n+1) {
			t.Fatalf("day %d: %v", d.Number-today, d.Kinds["cubin"])
		}
	}
	on(s, today+3*daySlots)
	if days := s.Days(0); len(days) != 0 {
		t.Errorf("a year without the cache later: %d days", len(days))
	}
	if st, err := os.Stat(s.v1 + "/days"); err != nil || st.Size() > daySlots*daySize {
		t.Errorf("%v, %v", st.Size(), err)
	}
}

func TestDamagedDayIsNotCountedAndTheOthersAre(t *testing.T) {
	s := open(t)
	for i := range int64(3) {
		on(s, today+i)
		s.Count([]byte("cubin"), Puts, 1)
		s.Flush()
	}
	path := s.v1 + "/days"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 8, 16, 24, dayHead, dayHead + 100} {
		damaged := append([]byte(nil), data...)
		damaged[daySlot(today+1)+at] ^= 0x55
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if days := s.Days(0); len(days) != 2 || days[0].Number != today || days[1].Number != today+2 {
			t.Errorf("byte %d changed: %v", at, days)
		}
	}
	on(s, today+1)
	s.Count([]byte("cubin"), Puts, 7)
	s.Flush()
	on(s, today+2)
	if days := s.Days(0); len(days) != 3 || days[1].Kinds["cubin"][Puts] != 7 {
		t.Errorf("counted again: %v", days)
	}
}

func TestZeroForgetsTheDays(t *testing.T) {
	s := open(t)
	s.Count([]byte("cubin"), Puts, 1)
	s.Flush()
	if err := s.Zero(context.Background()); err != nil {
		t.Fatal(err)
	}
	if days := s.Days(0); len(days) != 0 {
		t.Errorf("%v", days)
	}
}

// A directory of a version that had no days, and a clock before 1970.
func TestDirectoryWithoutDaysHasNone(t *testing.T) {
	s := open(t)
	if days := s.Days(0); len(days) != 0 {
		t.Errorf("%v", days)
	}
	if _, err := os.Stat(s.v1 + "/days"); err == nil {
		t.Error("made before there was anything to count")
	}
	on(s, -3)
	s.Count([]byte("cubin"), Puts, 1)
	s.Flush()
	if days := s.Days(0); len(days) != 1 || days[0].Number != 0 {
		t.Errorf("%v", days)
	}
}

// The golden files were made from docs/format.md, with no code in common.
func TestGoldenLedgerAndDaysAreRead(t *testing.T) {
	var want struct {
		Entries, Bytes, Zeroed int64
		Kinds                  map[string]map[int]uint64
		Days                   map[int64]map[string]map[int]uint64
	}
	text, err := os.ReadFile("../../tests/golden/ledger.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	s := open(t)
	for _, name := range []string{"ledger", "days"} {
		data, err := os.ReadFile("../../tests/golden/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.v1+"/"+name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got map[string]*Counters, want map[string]map[int]uint64) {
		if len(got) != len(want) {
			t.Errorf("%s: %d kinds, want %d", what, len(got), len(want))
		}
		for kind, counters := range want {
			c := Counters{}
			for i, n := range counters {
				c[i] = n
			}
			if got[kind] == nil || *got[kind] != c {
				t.Errorf("%s, %s: %v, want %v", what, kind, got[kind], counters)
			}
		}
	}
	u := s.Usage()
	if u.Entries != want.Entries || u.Bytes != want.Bytes || u.Zeroed != want.Zeroed {
		t.Errorf("%d entries, %d bytes, zeroed %d", u.Entries, u.Bytes, u.Zeroed)
	}
	same("ledger", u.Kinds, want.Kinds)
	last := int64(0)
	for n := range want.Days {
		last = max(last, n)
	}
	on(s, last)
	days := s.Days(0)
	if len(days) != len(want.Days) || len(days) == 0 {
		t.Errorf("%d days, want %d", len(days), len(want.Days))
	}
	for _, d := range days {
		same(time.Unix(d.Number*86400, 0).UTC().Format("2006-01-02"), d.Kinds, want.Days[d.Number])
	}
}

func FuzzDays(f *testing.F) {
	t := counterTable{}
	t.at([]byte("cubin"))[Puts] = 7
	f.Add(encodeDay(today, &t))
	f.Fuzz(func(_ *testing.T, data []byte) {
		b := make([]byte, daySize)
		copy(b, data)
		if n := binary.LittleEndian.Uint64(b[24:]); n <= maxKinds {
			binary.LittleEndian.PutUint64(b[8:], xxh3.Hash(b[16:dayHead+n*kindSize]))
		}
		if _, t, ok := parseDay(b); ok {
			t.byKind()
			t.used()
		}
	})
}

// Counting a hit must not get slower because of the days.
func BenchmarkCountHit(b *testing.B) {
	s := open(b)
	kind := []byte("cubin")
	for b.Loop() {
		s.CountHit(HitsDisk, kind, 5)
	}
}

func BenchmarkFlush(b *testing.B) {
	s := open(b)
	for b.Loop() {
		s.Count([]byte("cubin"), HitsMemory, 1)
		s.Flush()
	}
}
