// The counters, as `jitcache stats` prints them.

package core

import (
	"time"

	"jitcache/core/store"
)

// Stats is the output of `jitcache stats -all -json` for a directory and this process,
// without the remotes.
type Stats struct {
	Directory string               `json:"directory"` // "" if there is none
	Refused   string               `json:"refused,omitempty"`
	Entries   int64                `json:"entries"`
	Bytes     int64                `json:"bytes"`
	MaxSize   int64                `json:"max_size"` // 0 unlimited
	Memory    MemoryStats          `json:"memory"`
	Zeroed    time.Time            `json:"zeroed,omitzero"`
	Total     KindStats            `json:"total"`
	Kinds     map[string]KindStats `json:"kinds"`
}

// MemoryStats is the in-process tier of the process that asks.
type MemoryStats struct {
	Entries uint64 `json:"entries"`
	Bytes   uint64 `json:"bytes"`
	MaxSize int64  `json:"max_size"`
}

// KindStats are the counters of one kind of entries, over all processes since
// they were last set to zero. Times are in seconds.
type KindStats struct {
	HitsMemory   uint64            `json:"hits_memory"`
	HitsDisk     uint64            `json:"hits_disk"`
	Misses       uint64            `json:"misses"`
	MissReasons  map[string]uint64 `json:"miss_reasons,omitempty"`
	Puts         uint64            `json:"puts"`
	NotStored    uint64            `json:"not_stored"`
	NotReasons   map[string]uint64 `json:"not_stored_reasons,omitempty"`
	Compiles     uint64            `json:"compiles"`
	CompileTime  float64           `json:"compile_seconds"`
	TimeSaved    float64           `json:"saved_seconds"`
	Waits        uint64            `json:"waits"`
	WaitTime     float64           `json:"wait_seconds"`
	Evictions    uint64            `json:"evictions"`
	EvictedBytes uint64            `json:"evicted_bytes"`
	Removals     uint64            `json:"removals"`
	HitsLayer    uint64            `json:"hits_layer"`
	HitsRemote   uint64            `json:"hits_remote"`
}

// Hits adds up the hits, wherever they were.
func (k *KindStats) Hits() uint64 { return k.HitsMemory + k.HitsDisk + k.HitsLayer + k.HitsRemote }

// Stats returns the counters of the directory, with those that this process has not
// written yet. Without a directory it returns those of this process.
func (c *Cache) Stats() Stats {
	c.settle()
	s := Stats{Kinds: map[string]KindStats{}}
	if c.memory != nil {
		s.Memory.Bytes, s.Memory.Entries = c.memory.Size()
		s.Memory.MaxSize = c.settings.memorySize
	}
	if c.store == nil {
		if c.refused != nil {
			s.Refused = c.refused.Error()
		}
		if c.alone != nil {
			c.drain()
			s.Total, s.Kinds = statsOf(c.alone.ByKind())
		}
		return s
	}
	c.drain()
	u := c.store.Usage()
	s.Directory, s.Entries, s.Bytes, s.MaxSize = c.store.Root(), u.Entries, u.Bytes, c.store.MaxSize()
	if u.Zeroed != 0 {
		s.Zeroed = time.Unix(0, u.Zeroed)
	}
	s.Total, s.Kinds = statsOf(u.Kinds)
	return s
}

// History has the counters of some days, as `jitcache stats -since -all -json` prints them.
// Days are those of UTC.
type History struct {
	Directory string               `json:"directory"`
	Since     string               `json:"since"`           // the first day that was asked for, 2006-01-02
	First     string               `json:"first,omitempty"` // the first day that is remembered, "" if none is
	Total     KindStats            `json:"total"`
	Kinds     map[string]KindStats `json:"kinds"`
	Days      []DayStats           `json:"days"` // without days on which nothing was counted
}

// DayStats are the counters of one day.
type DayStats struct {
	Day   string               `json:"day"` // 2006-01-02
	Total KindStats            `json:"total"`
	Kinds map[string]KindStats `json:"kinds"`
}

// DayLayout is the layout of days as text.
const DayLayout = "2006-01-02"

// History returns the counters of the directory's days, from the day of since on.
func (c *Cache) History(since time.Time) History {
	c.settle()
	from := store.DayOf(since.UnixNano())
	h := History{Since: dayText(from), Days: []DayStats{}}
	sum := map[string]*store.Counters{}
	if c.store != nil {
		c.drain()
		h.Directory = c.store.Root()
		days := c.store.Days(0)
		if len(days) > 0 {
			h.First = dayText(days[0].Number)
		}
		for _, d := range days {
			if d.Number < from {
				continue
			}
			day := DayStats{Day: dayText(d.Number)}
			day.Total, day.Kinds = statsOf(d.Kinds)
			h.Days = append(h.Days, day)
			for kind, counters := range d.Kinds {
				if sum[kind] == nil {
					sum[kind] = new(store.Counters)
				}
				sum[kind].Add(counters)
			}
		}
	}
	h.Total, h.Kinds = statsOf(sum)
	return h
}

func dayText(day int64) string { return time.Unix(day*24*60*60, 0).UTC().Format(DayLayout) }

func statsOf(kinds map[string]*store.Counters) (total KindStats, of map[string]KindStats) {
	var all store.Counters
	of = make(map[string]KindStats, len(kinds))
	for kind, counters := range kinds {
		of[kind] = kindStats(counters)
		all.Add(counters)
	}
	return kindStats(&all), of
}

func kindStats(c *store.Counters) KindStats {
	k := KindStats{
		HitsMemory: c[store.HitsMemory], HitsDisk: c[store.HitsDisk], HitsLayer: c[store.HitsLayer], HitsRemote: c[store.HitsRemote], Misses: c.Misses(),
		Puts: c[store.Puts], NotStored: c[store.PutsRefused],
		Compiles: c[store.Compiles], CompileTime: seconds(c[store.CompileTime]), TimeSaved: seconds(c[store.TimeSaved]),
		Waits: c[store.Waits], WaitTime: seconds(c[store.WaitTime]),
		Evictions: c[store.Evictions], EvictedBytes: c[store.EvictedBytes], Removals: c[store.Removals],
		MissReasons: map[string]uint64{}, NotReasons: map[string]uint64{},
	}
	for _, r := range store.Reasons() {
		if n := c[store.MissCounter(r)]; n > 0 {
			k.MissReasons[r.String()] = n
		}
		if n := c[store.RefusedCounter(r)]; n > 0 {
			k.NotReasons[r.String()] = n
		}
	}
	return k
}

func seconds(ns uint64) float64 { return float64(ns) / 1e9 }

// Limit returns how many bytes the directory may hold, 0 if there is no limit.
func (c *Cache) Limit() int64 {
	if c.store == nil {
		return 0
	}
	return c.store.MaxSize()
}
