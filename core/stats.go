package core

import (
	"time"

	"jitcache/core/store"
)

// Stats is what `jitcache stats --json` prints, for a directory and this
// process.
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

// Stats returns the counters of the directory, with what this process has not
// written yet; without a directory those of this process.
func (c *Cache) Stats() Stats {
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
			s.addKinds(c.alone.ByKind())
		}
		return s
	}
	c.drain()
	u := c.store.Usage()
	s.Directory, s.Entries, s.Bytes, s.MaxSize = c.store.Root(), u.Entries, u.Bytes, c.store.MaxSize()
	if u.Zeroed != 0 {
		s.Zeroed = time.Unix(0, u.Zeroed)
	}
	s.addKinds(u.Kinds)
	return s
}

func (s *Stats) addKinds(kinds map[string]*store.Counters) {
	var total store.Counters
	for kind, counters := range kinds {
		s.Kinds[kind] = kindStats(counters)
		total.Add(counters)
	}
	s.Total = kindStats(&total)
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
