// Fetch: many entries in one request.

package remote

import (
	"errors"
	"io"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
)

// Fetch asks for many entries in one request. For each it calls room with its size, as Get does,
// and then got, with nil if the memory that room returned is filled, with ErrAbsent, or with
// another error of this entry. It draws on no budget, because nobody waits for it, and asks
// nothing while the remote is off. The error is that of the whole request.
func (r *Remote) Fetch(ids []key.ID, within time.Duration, room func(i, size int) []byte, got func(i int, err error)) error {
	if int64(time.Since(epoch)) < r.off.Load() {
		return ErrNotAsked
	}
	err := r.fetch(ids[:min(len(ids), wire.MaxFetch)], time.Now().Add(within), room, got)
	r.saw(err)
	return err
}

func (r *Remote) fetch(ids []key.ID, deadline time.Time, room func(i, size int) []byte, got func(i int, err error)) error {
	c, err := r.connect(deadline)
	if err != nil {
		return err
	}
	defer c.closeSocket()
	if !c.greeting.Jitcache {
		return errors.New("the program at the helper's socket is not jitcache's")
	}
	request := wire.AppendSize(wire.AppendText([]byte{wire.Fetch}, "jitcache/1/"+r.segment+"/"), uint64(len(ids)))
	for i := range ids {
		request = append(request, ids[i][:]...)
	}
	if _, err = c.askStatus(request); err != nil {
		return err
	}
	for i := range ids {
		if err := c.one(i, room, got); err != nil {
			return err
		}
	}
	return nil
}

// one reads the answer about one entry.
func (c *conn) one(i int, room func(i, size int) []byte, got func(i int, err error)) error {
	var refused wire.Refused
	switch status, err := wire.ReadStatus(c); {
	case errors.As(err, &refused):
		got(i, err)
		return nil
	case err != nil:
		return err
	case status == wire.Noop:
		got(i, ErrAbsent)
		return nil
	}
	n, err := wire.ReadLength(c, wire.MaxValue)
	if err != nil {
		return err
	}
	b := room(i, n)
	if b == nil {
		return errors.New("no memory")
	}
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	got(i, nil)
	return nil
}
