// Values of the engine, and what clients are told of its errors.

package storage

import (
	"errors"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// errorAnswer returns the answer to a request that has failed.
func (s *Server) errorAnswer(err error) []byte {
	s.counts.errors.Add(1)
	text := s.failed(err)
	if ofEntry(err) {
		text = wire.OfEntry + text
	}
	return wire.AppendErr(nil, text)
}

// down returns the answer to all requests while the engine does not answer.
func (s *Server) down() []byte {
	if why := s.state.refuses(); why != "" {
		s.counts.denied.Add(1)
		return wire.AppendErr(nil, "down: "+s.shown(errors.New(why)))
	}
	return nil
}

// getValue gets a value from the engine. If the name is ours, it unpacks the object.
func (s *Server) getValue(n engine.Name) ([]byte, error) {
	ctx, cancel := s.within()
	defer cancel()
	value, err := s.engine.Get(ctx, n, s.limit)
	s.counts.received.Add(int64(len(value)))
	if err == nil && n.Ours() {
		return unpack(value, s.limit)
	}
	return value, err
}

// putValue puts a value into the engine.
func (s *Server) putValue(n engine.Name, value []byte, overwrite bool) (bool, error) {
	if n.Ours() {
		value = packEntry(value)
	}
	if int64(len(value)) > s.limit {
		return false, engine.ErrTooLarge
	}
	ctx, cancel := s.within()
	defer cancel()
	stored, err := s.engine.Put(ctx, n, value, overwrite)
	switch {
	case err != nil:
	case stored:
		s.counts.puts.Add(1)
		s.counts.sent.Add(int64(len(value)))
	default:
		s.counts.kept.Add(1)
	}
	return stored, err
}
