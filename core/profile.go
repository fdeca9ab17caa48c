// Profiles: the keys that a job used the last time, whose entries are fetched from a remote when
// the job starts.

package core

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/lease"
	"jitcache/core/remote"
	"jitcache/core/store"
)

// A profile is the list of the keys that a job has used, stored as one entry, under a name
// that the user chooses (JITCACHE_PROFILE). A process that starts with that name fetches
// those entries that its directory lacks from the remotes, in one request and in the
// background. At its end it adds the keys that it has used.
//
// A profile only gives hints. Entries that are fetched because of it are verified like any
// others. A key too many costs its bytes; a key too few costs what it would have cost
// without a profile. So a process signs the profile that it writes, although some of the
// keys in it are from others.

// profile is the profile of a cache; nil if none is named.
type profile struct {
	key *key.Key

	mu    sync.Mutex
	used  []key.ID          // by this process, in the order of their first use
	known map[key.ID]uint16 // the keys of all runs, and the day of each key's last use
}

// A profile as bytes: the magic, then 34 bytes for each key: the key, and the day as two
// bytes, little-endian.
const (
	profileMagic = "jcprof\x00\x01"
	profileRow   = len(key.ID{}) + 2
	// mostProfiled bounds a profile: an adapter's test suite compiles some thousand.
	mostProfiled = 8192
	// A key that no run has used for forgottenAfter days is left out. The day of a key is
	// written again when it is renewedAfter days old.
	forgottenAfter = 30
	renewedAfter   = 7
)

// openProfile reads the settings, and begins to fetch. again says that the cache is opened
// again in a forked child: then its parent has fetched.
func (c *Cache) openProfile(again bool) {
	name := c.settings.profile
	if name == "" || c.store == nil || c.store.Refuses() != store.None || c.unread() != store.None {
		return
	}
	c.profile = &profile{key: key.Note("profile", []byte(name)), known: map[key.ID]uint16{}}
	if !again && len(c.remotes.used) > 0 && prefetches {
		go c.fetchProfile()
	}
}

// uses notes that this process has found or stored an entry.
func (c *Cache) uses(id *key.ID) {
	p := c.profile
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.known[*id]; ok && at == inUse || len(p.used) >= mostProfiled {
		return
	}
	p.known[*id] = inUse
	p.used = append(p.used, *id)
}

// inUse stands in place of a day: this process uses the key.
const inUse = 0xFFFF

// UsedNote adds the key of a note to the profile of this job.
func (c *Cache) UsedNote(id *key.ID) { c.uses(id) }

// learn adds the keys of a stored profile, and returns them.
func (p *profile) learn(data []byte) (ids []key.ID) {
	if !bytes.HasPrefix(data, []byte(profileMagic)) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for data = data[len(profileMagic):]; len(data) >= profileRow && len(ids) < mostProfiled; data = data[profileRow:] {
		id, day := key.ID(data), binary.LittleEndian.Uint16(data[len(key.ID{}):])
		if at, ok := p.known[id]; !ok || day > at {
			p.known[id] = min(day, inUse-1)
		}
		ids = append(ids, id)
	}
	return ids
}

// ---- at the start

// fetching bounds the time that fetching takes if a remote is slow.
const fetching = time.Minute

// fetchProfile fetches the entries of the profile. Of the processes with this directory,
// one does it at a time.
func (c *Cache) fetchProfile() {
	granted, outcome := c.leases.Acquire(c.profile.key.ID, "profile", time.Now(), func() bool { return false })
	if outcome != lease.Granted {
		return
	}
	defer granted.Release()
	for _, r := range c.remotes.used {
		if !r.Reads {
			continue
		}
		var ids []key.ID
		c.fetch(r, []key.ID{c.profile.key.ID}, fetching, func(b *blob.Blob) { ids = c.profile.learn(b.Data()) })
		missing := ids[:0]
		for i := range ids {
			// Without reading payloads: there may be thousands of entries, of any size.
			if _, why := c.store.Stat(&ids[i]); why != store.None {
				missing = append(missing, ids[i])
			}
		}
		if len(missing) > 0 {
			c.fetch(r, missing, fetching, func(b *blob.Blob) {
				if !c.closed.Load() {
					c.store.Copy(b, passedOn(b))
				}
			})
		}
	}
}

// fetch fetches entries from a remote, and calls use for each good one.
func (c *Cache) fetch(r *Remote, ids []key.ID, within time.Duration, use func(b *blob.Blob)) {
	var b *blob.Blob
	defer func() {
		if b != nil {
			b.Release()
		}
	}()
	room := func(_, size int) []byte {
		if b, _ = blob.New(size); b == nil {
			return nil
		}
		return b.Buffer()
	}
	err := r.client.Fetch(ids, within, room, func(i int, err error) {
		if err == nil && b != nil {
			if why := c.accept(r, b, &ids[i]); why == store.None {
				use(b)
			} else {
				c.warnRemote(r, "has an entry that cannot be used: "+why.String())
			}
		}
		if b != nil {
			b.Release()
			b = nil
		}
	})
	if err != nil && !errors.Is(err, remote.ErrNotAsked) {
		c.log.line(Info, "profile: remote %s: %v", r.URL, err)
	}
}

// ---- at the end

// saveProfile adds the keys that this process has used to the profile, if any are new.
func (c *Cache) saveProfile() {
	p := c.profile
	if p == nil || !p.any() {
		return
	}
	before := map[key.ID]uint16{}
	if b, why := c.own(&p.key.ID); why == store.None {
		old := profile{known: before}
		old.learn(b.Data())
		p.learn(b.Data())
		b.Release()
	}
	today := uint16(store.DayOf(time.Now().UnixNano()))
	if _, news := p.bytes(today, before); !news {
		return
	}
	// Another machine may have written it since it was fetched.
	for _, r := range c.remotes.used {
		if r.Reads {
			c.fetch(r, []key.ID{p.key.ID}, telling, func(b *blob.Blob) { p.learn(b.Data()) })
		}
	}
	data, _ := p.bytes(today, before)
	if w, why := c.writeItem(store.Item{Key: p.key, Payload: data, Replace: true}); why == store.None && w.Created != 0 {
		c.offer(&p.key.ID)
	}
}

func (p *profile) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.used) > 0
}

// bytes returns the profile as bytes, the keys that this process has used first. news says
// whether it has anything that before, the stored profile, lacks.
func (p *profile) bytes(today uint16, before map[key.ID]uint16) (data []byte, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data = []byte(profileMagic)
	add := func(id key.ID, day uint16) {
		if len(data) < len(profileMagic)+mostProfiled*profileRow {
			data = binary.LittleEndian.AppendUint16(append(data, id[:]...), day)
		}
	}
	for _, id := range p.used {
		at, ok := before[id]
		news = news || !ok || at+renewedAfter <= today
		add(id, today)
	}
	for id, day := range p.known {
		if day != inUse && day+forgottenAfter > today {
			add(id, day)
		}
	}
	return data, news
}
