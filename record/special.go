// Devices, pipes and sockets.

package record

import (
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// What is neither a file nor a folder has no content to compare. A device is told from
// another one by its numbers, and stat says the permissions, the owner and the time of
// devices, pipes and sockets just as it says those of files.

// ofMemory is the major number of devices that are the same on every machine: null, zero
// and their like.
const ofMemory = 1

// special notes a device, a pipe or a socket. It counts as a file does, by who has asked. In
// /dev the kernel puts what the machine has, and terminals there belong to whoever works at
// them: of these the type counts, and the numbers of null and its like.
func (t *taker) special(n *observe.Name, path string) error {
	k := Kind{Path: path, Mode: n.Mode & unix.S_IFMT}
	if errno := t.status.At(ended(n.Path), 0); errno != 0 || t.status.Kind() != k.Mode {
		return request.Refuse(n.Path, "changed during the run")
	}
	if now := &t.status.Stamp; now.Ino != n.Stamp.Ino || now.Dev != n.Stamp.Dev {
		return request.Refuse(n.Path, "changed during the run")
	}
	isOurs := !t.isOfMachine(n.Path)
	if device := t.status.Device(); device != 0 && (isOurs || device>>32 == ofMemory) {
		k.Flags, k.Device = k.Flags|Numbered, device
	}
	if isOurs && n.Statted&t.known.all&^t.known.blind != 0 {
		k.Flags, k.Mode = k.Flags|Permissions, t.status.Mode()
	}
	if isOurs && t.isDated(n) {
		k.Flags, k.Mtime = k.Flags|DatedToo, t.status.Stamp.Mtime
	}
	if isOurs && t.isOwned(n) {
		k.Flags, k.Owner = k.Flags|OwnedToo, t.status.Owner()
	}
	if !keepsSpecials {
		k = Kind{Path: path, Mode: n.Mode & unix.S_IFMT}
	}
	t.list.Kinds = append(t.list.Kinds, k)
	return nil
}

// isOfMachine reports whether a path leads into /dev, and not into the memory that anybody
// may use there.
func (t *taker) isOfMachine(path string) bool {
	real := t.real(path)
	return strings.HasPrefix(real, "/dev/") && !strings.HasPrefix(real, "/dev/shm/")
}

// kinds compares devices, pipes and sockets, and the permissions of folders.
func (c *checker) kinds() bool {
	for i := range c.list.Kinds {
		k := &c.list.Kinds[i]
		if errno := c.status.At(c.path(k.Path), 0); errno != 0 || c.status.Kind() != k.Mode&unix.S_IFMT {
			return c.changed(k.Path, "type changed")
		}
		switch now := c.status.Mode(); {
		case k.Flags&Numbered != 0 && c.status.Device() != k.Device:
			return c.changed(k.Path, "is another device")
		case k.Flags&Permissions != 0 && now != k.Mode && keepsModes:
			return c.changed(k.Path, modeChange(k.Mode, now))
		case k.Flags&DatedToo != 0 && c.status.Stamp.Mtime != k.Mtime:
			return c.changed(k.Path, "modification time changed")
		case k.Flags&OwnedToo != 0 && c.status.Owner() != k.Owner:
			return c.changed(k.Path, "owner changed")
		}
	}
	return true
}

// kind encodes what counts of a device, a pipe, a socket or a folder.
func (e *encoder) kind(k *Kind) {
	e.number(uint64(k.Mode))
	e.number(uint64(k.Flags))
	if k.Flags&Numbered != 0 {
		e.number(k.Device)
	}
	if k.Flags&DatedToo != 0 {
		e.signed(k.Mtime)
	}
	if k.Flags&OwnedToo != 0 {
		e.number(k.Owner)
	}
}

func (d *listDecoder) kind(k *Kind) {
	k.Path, k.Mode, k.Flags = d.path(), uint32(d.number()), KindFlags(d.number())
	if k.Flags&Numbered != 0 {
		k.Device = d.number()
	}
	if k.Flags&DatedToo != 0 {
		k.Mtime = d.signed()
	}
	if k.Flags&OwnedToo != 0 {
		k.Owner = d.number()
	}
}
