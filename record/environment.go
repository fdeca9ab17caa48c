// Environment: the variables of a process, packed.

package record

import (
	"bytes"
	"strings"
	"sync"
)

// Environment is the environment of a process, packed: each variable ends in a NUL. It
// remembers which of its variables count, and so serves many lookups. It may be used from
// any goroutine.
type Environment struct {
	packed []byte

	mu    sync.Mutex
	all   []string
	known map[string][]Variable
}

// NewEnvironment makes one of a copy of packed.
func NewEnvironment(packed []byte) *Environment {
	return &Environment{packed: bytes.Clone(packed), known: map[string][]Variable{}}
}

// Is reports whether it was made of the same bytes.
func (e *Environment) Is(packed []byte) bool { return e != nil && bytes.Equal(e.packed, packed) }

// All returns the variables, NAME=VALUE. The caller must not change it.
func (e *Environment) All() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.list()
}

func (e *Environment) list() []string {
	if e.all == nil {
		e.all = strings.Split(strings.TrimSuffix(string(e.packed), "\x00"), "\x00")
	}
	return e.all
}

func (e *Environment) variables(r Rule, also []string) []Variable {
	// Few different sets of names occur, so the table stays small.
	name := append(make([]byte, 0, 256), byte(r))
	for _, a := range also {
		name = append(append(name, a...), 0)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	is, ok := e.known[string(name)]
	if !ok {
		is = r.variables(e.list(), also, nil)
		e.known[string(name)] = is
	}
	return is
}
