// Layers: further directories in which lookups search, and which are only read.

package core

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Layers are further cache directories, which are only read. If the cache's own
// directory has no entry, a lookup goes on to them: a container's image, a team's
// directory.

// Layer is a directory that a setting names as a layer.
type Layer struct {
	Directory string
	Source    string // where it is named, see trust.Setting
	Refused   string // why it is not used, "" if it is
	// Copies says why its entries are copied into the cache's own directory before they
	// are used, "" if they are used in place.
	Copies string
	// Signed says that users who are not trusted may write it. Only entries are used
	// that somebody who is trusted has signed.
	Signed bool

	store *store.Store
}

// openLayers opens the layers in their order. It leaves out a layer that cannot or must
// not be used, with a warning.
func (c *Cache) openLayers() {
	if c.settings.mode == ModeOff {
		return
	}
	set, _ := c.settings.trust.Get("layers")
	for _, dir := range strings.Split(set.Value, ":") {
		if dir == "" {
			continue
		}
		l := &Layer{Directory: dir, Source: set.Source}
		c.layers = append(c.layers, l)
		if l.Refused = c.openLayer(l); l.Refused == ownDirectory {
			continue // it is, for example, while an image is made
		}
		if l.Refused != "" {
			c.log.warn("layer "+dir, "layer %s (%s) is not used: %s", l.Directory, l.Source, l.Refused)
			continue
		}
		c.used = append(c.used, l)
		c.log.line(Debug, "layer %s (%s)", l.Directory, l.Source)
	}
}

const ownDirectory = "it is the cache's own directory"

// openLayer returns why a layer is not used, "" if it is.
func (c *Cache) openLayer(l *Layer) (refused string) {
	if !filepath.IsAbs(l.Directory) {
		return "its path is not absolute"
	}
	s, err := store.OpenLayer(l.Directory, &c.settings.store)
	var r *store.Refused
	if errors.As(err, &r) && r.Reason == store.WrongOwner && c.settings.keys.Any() {
		l.Signed = true
		l.Copies = "others may write it, and its entries are signed"
		s, err = store.OpenAnybodys(l.Directory, &c.settings.store)
	}
	switch {
	case errors.As(err, &r):
		return r.Why()
	case err != nil:
		return err.Error()
	}
	l.store, l.Directory = s, s.Root()
	if c.store != nil && c.store.Root() == s.Root() {
		return ownDirectory
	}
	if m := s.Mount(); m.Network && !l.Signed {
		l.Copies = "it is on a network file system (" + m.Name + ")"
	}
	return ""
}

// Layers returns all layers that the settings name, in their order, used or not.
func (c *Cache) Layers() []*Layer { return c.layers }

// Quiet returns for how long lookups ask no remote, because all have failed a moment ago,
// or the budget is spent. Until then an entry that no directory has is a miss for the
// reason returned. 0: remotes are asked.
func (c *Cache) Quiet() (time.Duration, store.Reason) {
	if len(c.remotes.used) == 0 || c.remotes.waits.any() {
		return 0, store.Absent
	}
	quiet, why := mostQuiet, store.Absent
	for _, r := range c.remotes.used {
		if !r.Reads {
			continue
		}
		rests, err := r.client.Rests()
		if quiet = min(quiet, rests); err != nil && tellsResting {
			why = restingOf(err)
		}
	}
	return quiet, why
}

// mostQuiet is the longest time for which a remote is not asked after a failure.
const mostQuiet = time.Minute

// Settings returns the settings of the environment, the user and the machine.
func (c *Cache) Settings() *trust.Settings { return c.settings.trust }

// isOwn reports whether a file that was opened is in the own directory.
func (c *Cache) isOwn(o *Opened) bool {
	return o.Fd >= 0 && c.store != nil && o.In == c.store.EntryPath()
}

// layerOf returns the index of the layer in use that has the opened file, -1 for none.
// It compares paths, because the caller may have opened the file before the cache was
// opened again with other layers.
func (c *Cache) layerOf(o *Opened) int {
	if o.Fd < 0 {
		return -1
	}
	return slices.IndexFunc(c.used, func(l *Layer) bool { return l.store.EntryPath() == o.In })
}

// goOn continues a lookup in the layers and remotes. why says why the own directory has
// no good entry. It returns the counter of the place where the entry was, and counts
// nothing.
func (c *Cache) goOn(id *key.ID, why store.Reason, opened *Opened) (*blob.Blob, store.Counter, store.Reason) {
	if b := c.copying.entryOf(id); b != nil { // a remote gave it a moment ago
		if b, why := c.unlessWithdrawn(b, store.None); b != nil {
			return b, store.HitsRemote, why
		}
	}
	c.warnUnusable(id, why)
	if !goesOn {
		return nil, 0, why
	}
	layers, fd := c.unseen(opened)
	for _, l := range layers {
		b, reason := c.fromLayer(l, id, fd)
		fd = -1 // the file is in the first of them
		if b != nil {
			if l.Copies != "" && copies {
				c.copyIn(b)
			}
			return b, store.HitsLayer, store.None
		}
		if reason == store.Absent {
			continue
		}
		c.log.warn("layer "+l.Directory+" "+reason.String(), "layer %s: entry %s cannot be used: %v", l.Directory, label("", *id), reason)
		if why == store.Absent || why == store.NoDirectory {
			why = reason
		}
	}
	b, why := c.fromRemotes(id, why)
	return b, store.HitsRemote, why
}

// unseen returns the layers in which the caller of Lookup has not looked for the file. If
// it has opened the file, that is in the first of them, and fd is the file; else fd is -1.
func (c *Cache) unseen(opened *Opened) (layers []*Layer, fd int) {
	if opened.Fd == NotThere {
		return nil, -1
	}
	if has := c.layerOf(opened); has >= 0 {
		return c.used[has:], opened.Fd
	}
	return c.used, -1
}

// fromLayer returns an entry of a layer, if it is there and may be used. fd is its file,
// negative if it was not opened.
func (c *Cache) fromLayer(l *Layer, id *key.ID, fd int) (b *blob.Blob, why store.Reason) {
	if fd >= 0 {
		b, why = l.store.GetFrom(fd, id)
	} else {
		b, why = l.store.Get(id)
	}
	if why == store.None && (l.Signed && !c.signed(b) || !l.Signed && c.withdrawn(b)) {
		b.Release()
		return nil, store.Signature
	}
	return b, why
}
