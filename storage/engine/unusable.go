// The engine in place of one whose settings are wrong.

package engine

import "context"

// unusable refuses everything. It stands for an engine that cannot be made of what the user
// has written, so that whoever asks is told what is wrong: a helper that ends at once would
// tell nobody, and would be started again by each process.
type unusable struct{ err error }

// Unusable returns an engine that refuses every request with the text of an error.
func Unusable(err error) Engine { return unusable{wrap(ErrRefused, err.Error())} }

func (u unusable) Get(context.Context, Name, int64) ([]byte, error)      { return nil, u.err }
func (u unusable) Put(context.Context, Name, []byte, bool) (bool, error) { return false, u.err }
func (u unusable) Remove(context.Context, Name) (bool, error)            { return false, u.err }
func (u unusable) Atomic() bool                                          { return false }
func (u unusable) Probe(context.Context) error                           { return u.err }
func (u unusable) Close()                                                {}
