// Eviction: which entries are removed when the directory is above its cap, and how long a put may
// spend on it.

package store

import (
	"slices"
	"sort"
	"time"

	"jitcache/core/key"
)

// freeShare says how much an eviction that has looked at a sample frees at once: half
// of the sample's share of the cap. So the cost of the look (1.5 us a file, twice that
// on tmpfs) is spread over the puts that follow. The cache stays full, because shards
// take turns: each holds between three quarters and five quarters of its share.
const freeShare = 2

// sampleSize is about how many entries one eviction looks at. A smaller directory is
// evicted in exact order, to exactly the cap. In a larger one as many shards are looked
// at as hold this many entries. Keys are hashes, so a shard is a fair sample of the
// whole.
const sampleSize = 256

// kindShare is the share of evicted entries whose kind is read in a large directory: one
// of so many, whose kind is then counted for the next ones too. Opening a file and reading
// its footer costs half of an eviction, and only the counters by kind depend on it; the
// total is exact. In a small directory every kind is read.
const kindShare = 8

// recountBudget bounds the time that one put may spend counting shards whose cell is
// lost. A shard of a cache of 100,000 entries takes half a millisecond. The first
// recountFree files do not count as time, so a small directory is counted at once,
// however busy the machine is.
const (
	recountBudget = 5 * time.Millisecond
	recountFree   = 4096
)

// recount counts the shards of unknown cells: as many as the time allows, and at least
// one.
func (s *Store) recount(l *ledger, budget time.Duration) {
	start, seen := time.Now(), 0
	for i := range l.cells {
		if l.cells[i].count != unknownCount {
			continue
		}
		files := s.listShard(i).files
		l.cells[i] = cellOf(files)
		if seen += len(files); seen > recountFree && time.Since(start) > budget {
			return
		}
	}
}

func cellOf(files []file) cell {
	c := cell{count: uint64(len(files))}
	for i := range files {
		c.bytes += uint64(files[i].size)
	}
	return c
}

// evictFor bounds the time that a put goes on evicting after it has made room for itself,
// if the cap was lowered or others have crossed it. The next put goes on then: a million
// entries would take minutes, while the caller waits. The first evictFree entries do not
// count as time, so a small directory comes down to its cap at once, however busy the
// machine is.
const (
	evictFor  = 5 * time.Millisecond
	evictFree = 64
)

// slice is how long a trim evicts before it writes the ledger and gives up the ledger's
// lock.
const slice = 100 * time.Millisecond

// effort bounds an eviction. It removes at least evictFree entries and least bytes. Then
// it goes on until it has taken time, or twice as long as the first look at the files,
// whichever is longer.
// Entries that cannot be removed count too; otherwise each put would try all entries of a
// directory full of them.
type effort struct {
	least int64
	time  time.Duration
	tried int64 // bytes of the files that were tried
	files int   // number of the files that were tried
	start time.Time
	look  time.Duration // the time of the first look
}

// forPut is the effort of one or more puts that have added bytes. It frees twice as
// many, so that the directory reaches its cap in the end, however busy the machine is.
func forPut(added int64) *effort { return &effort{least: 2 * max(added, 0), time: evictFor} }

func (e *effort) looked() {
	if e.look == 0 {
		e.look = time.Since(e.start)
	}
}

func (e *effort) spent() bool {
	return putsShare && e.files > evictFree && e.tried >= e.least && time.Since(e.start) > max(e.time, 2*e.look)
}

// evict removes least recently used entries until the directory is at its cap, or the
// effort is spent. Afterwards the cells of the shards that it has looked at are exact.
// keep is the entry just written, which is removed last.
func (s *Store) evict(l *ledger, keep *key.ID, e *effort) {
	limit := s.MaxSize()
	if limit == 0 {
		return
	}
	e.start = time.Now()
	for range shards {
		total, count := l.total()
		if total <= uint64(limit) || e.spent() {
			return
		}
		n := shards
		if count > sampleSize && takeSamples {
			n = int(max(1, shards*sampleSize/count))
		}
		if !s.evictFrom(l, n, limit, keep, e) {
			return
		}
	}
}

// evictFrom looks at the n shards at the cursor and frees the excess from them,
// oldest entries first. It reports whether going on can help.
func (s *Store) evictFrom(l *ledger, n int, limit int64, keep *key.ID, e *effort) bool {
	var files []file
	first := int(l.cursor)
	for i := range n {
		shard := (first + i) % shards
		found := s.listShard(shard).files
		l.cells[shard] = cellOf(found)
		files = append(files, found...)
	}
	l.cursor = uint8(first + n)
	total, _ := l.total()
	need := int64(total) - limit
	if need <= 0 {
		return false
	}
	if n < shards {
		need += limit / freeShare * int64(n) / shards
	}
	d := s.newFolder()
	defer d.closeShard()
	for i := range files {
		if files[i].future {
			d.dateToNow(&files[i])
		}
	}
	d.sortByAge(files, keep)
	e.looked()
	kind := ""
	for i := range files {
		if need <= 0 || e.spent() {
			break
		}
		if n == shards || i%kindShare == 0 {
			kind, _ = d.kindOf(&files[i])
		}
		e.files++
		e.tried += files[i].size
		need -= d.evict(l, &files[i], kind)
	}
	// If all shards were looked at and that is not enough, the rest cannot be removed.
	return n < shards
}

// sortByAge sorts files by their last use, the least recent first, and keep last. If two
// were used at the same time, the older one comes first.
func (d *folder) sortByAge(files []file, keep *key.ID) {
	sort.Slice(files, func(i, j int) bool { return files[i].used < files[j].used })
	tied := false
	for i := 1; i < len(files); i++ {
		if files[i].used == files[i-1].used {
			d.readCreated(&files[i-1])
			d.readCreated(&files[i])
			tied = true
		}
	}
	if tied {
		sort.Slice(files, func(i, j int) bool {
			a, b := &files[i], &files[j]
			return a.used < b.used || a.used == b.used && a.created < b.created
		})
	}
	if keep == nil {
		return
	}
	name := keep.String()[2:] + entrySuffix
	if i := slices.IndexFunc(files, func(f file) bool { return f.name == name }); i >= 0 {
		f := files[i]
		copy(files[i:], files[i+1:])
		files[len(files)-1] = f
	}
}

func (d *folder) readCreated(f *file) {
	if f.created == 0 {
		if foot, why := d.footer(f); why == None {
			f.created = foot.created
		}
	}
}

// evict removes one entry, counts it for a kind, and returns how many bytes it has freed.
func (d *folder) evict(l *ledger, f *file, kind string) int64 {
	if !d.unlink(f) {
		return 0
	}
	l.apply(f.shard, change{-f.size, -1})
	c := l.evicted.at([]byte(kind))
	c[Evictions]++
	c[EvictedBytes] += uint64(f.size)
	return f.size
}
