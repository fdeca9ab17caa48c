// Statistics without the kinds of internal entries, which are no results.

package core

import "jitcache/core/key"

// Internal kinds are those of entries that are no results: what an adapter notes for its
// own later lookups, and the library's notes. Their kinds begin with "_", apart from
// NoteKind. The command leaves them out unless it is asked for them, and their misses are
// logged at level debug.

// IsInternal reports whether entries of a kind are no results.
func IsInternal(kind string) bool { return kind == NoteKind || key.IsInternal([]byte(kind)) }

// WithoutInternal returns s with the counters of results alone.
func (s Stats) WithoutInternal() Stats {
	s.Total, s.Kinds = withoutInternal(s.Kinds)
	return s
}

// WithoutInternal returns h with the counters of results alone.
func (h History) WithoutInternal() History {
	h.Total, h.Kinds = withoutInternal(h.Kinds)
	days := make([]DayStats, 0, len(h.Days))
	for _, d := range h.Days {
		if d.Total, d.Kinds = withoutInternal(d.Kinds); len(d.Kinds) > 0 {
			days = append(days, d)
		}
	}
	h.Days = days
	return h
}

func withoutInternal(kinds map[string]KindStats) (total KindStats, left map[string]KindStats) {
	total = KindStats{MissReasons: map[string]uint64{}, NotReasons: map[string]uint64{}}
	left = make(map[string]KindStats, len(kinds))
	for kind, k := range kinds {
		if !IsInternal(kind) {
			left[kind] = k
			total.addStats(&k)
		}
	}
	return total, left
}

func (k *KindStats) addStats(other *KindStats) {
	k.HitsMemory += other.HitsMemory
	k.HitsDisk += other.HitsDisk
	k.HitsLayer += other.HitsLayer
	k.HitsRemote += other.HitsRemote
	k.Misses += other.Misses
	k.Puts += other.Puts
	k.NotStored += other.NotStored
	k.Compiles += other.Compiles
	k.CompileTime += other.CompileTime
	k.TimeSaved += other.TimeSaved
	k.Waits += other.Waits
	k.WaitTime += other.WaitTime
	k.Evictions += other.Evictions
	k.EvictedBytes += other.EvictedBytes
	k.Removals += other.Removals
	addTo(k.MissReasons, other.MissReasons)
	addTo(k.NotReasons, other.NotReasons)
}

func addTo(sum, more map[string]uint64) {
	for reason, n := range more {
		sum[reason] += n
	}
}
