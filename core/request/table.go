package request

import "sync"

// Table keeps what was made for each of at most so many keys. It may be used
// from any thread.
type Table[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]V
}

// NewTable returns an empty table for most keys.
func NewTable[K comparable, V any](most int) *Table[K, V] {
	return &Table[K, V]{most: most, values: map[K]V{}}
}

// Get returns the value of a key, and has it made if there is none. Of an error
// of fn nothing is kept. Another value may go for a new one, it does not matter
// which: it is made anew when it is wanted.
//
// The table is locked while fn runs, which must not ask it.
func (t *Table[K, V]) Get(k K, fn func() (V, error)) (V, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.values[k]; ok {
		return v, nil
	}
	v, err := fn()
	if err != nil {
		return v, err
	}
	for other := range t.values {
		if len(t.values) < t.most {
			break
		}
		delete(t.values, other)
	}
	t.values[k] = v
	return v, nil
}

// Len returns how many there are.
func (t *Table[K, V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.values)
}
