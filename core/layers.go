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

// Layers are directories in the format of a cache to which a lookup goes on when the
// cache's own has no answer: a container's image, a team's directory. Nothing is ever
// written to one.

// Layer is a directory that somebody has named as a layer.
type Layer struct {
	Directory string
	Source    string // who has named it, see trust.Setting
	Refused   string // why it is not used, "" if it is
	// Copies says why what is found in it is copied into the cache's own directory,
	// "" if it is used where it is.
	Copies string
	// Signed: whoever may write it is not trusted, but those are who have signed its
	// entries. What they have not signed is not used.
	Signed bool

	store *store.Store
}

// openLayers opens the layers in their order. One that must not or cannot be used is
// left out, with a warning.
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
			continue // as where an image is made
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

// Layers returns the layers that the settings name, in their order, whether they are
// used or not.
func (c *Cache) Layers() []*Layer { return c.layers }

// Layered reports whether lookups go on to layers or remotes.
func (c *Cache) Layered() bool { return len(c.used)+len(c.remotes.used) > 0 }

// Quiet returns for how long a lookup of what no directory has would look nowhere else, and
// what it would miss for: while no remote is asked, because all have failed a moment ago, or
// the budget is spent. 0: it does look.
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

// mostQuiet is as long as a remote rests at most.
const mostQuiet = time.Minute

// Settings returns what environment, user and machine have set.
func (c *Cache) Settings() *trust.Settings { return c.settings.trust }

// isOwn reports whether a file that was opened is in the own directory.
func (c *Cache) isOwn(o *Opened) bool {
	return o.Fd >= 0 && c.store != nil && o.In == c.store.EntryPath()
}

// layerOf returns which of the layers in use has the file that was opened, -1 for none.
// It goes by the path, for whoever has opened it may have had other layers.
func (c *Cache) layerOf(o *Opened) int {
	if o.Fd < 0 {
		return -1
	}
	return slices.IndexFunc(c.used, func(l *Layer) bool { return l.store.EntryPath() == o.In })
}

// goOn goes on to the layers and remotes with a lookup for which the directory has no
// good entry; why says why not. It says where the entry was, and counts nothing.
func (c *Cache) goOn(id *key.ID, why store.Reason, opened *Opened) (*blob.Blob, store.Counter, store.Reason) {
	c.warnUnusable(id, why)
	if !goesOn {
		return nil, 0, why
	}
	layers, fd := c.unseen(opened)
	for _, l := range layers {
		b, reason := c.fromLayer(l, id, fd)
		fd = -1 // it was of the first
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

// unseen returns the layers in which whoever has opened a file has not looked, and the
// file, if it is in the first of them; else -1.
func (c *Cache) unseen(opened *Opened) (layers []*Layer, fd int) {
	if opened.Fd == NotThere {
		return nil, -1
	}
	if has := c.layerOf(opened); has >= 0 {
		return c.used[has:], opened.Fd
	}
	return c.used, -1
}

// fromLayer returns the entry of a layer, if it is there and may be used. fd is its file
// if that was opened, else negative.
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

// copyIn stores what was found in a layer in the cache's own directory, and reports whether it
// could.
func (c *Cache) copyIn(b *blob.Blob) (copied bool) {
	if c.store == nil {
		return false
	}
	id := key.ID(b.ID())
	c.change(&id, false, func() (changed bool, keep *blob.Blob) {
		w, why := c.store.Copy(b, passedOn(b))
		if why != store.None {
			c.log.line(Debug, "not copied from a layer: %s: %v", label(b.Name(), id), why)
		}
		if changed = why == store.None && w.Created != 0; changed && c.memory != nil {
			keep = b
		}
		copied = why == store.None
		return changed, keep
	})
	return copied
}
