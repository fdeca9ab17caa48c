package request

import "sync"

// Table keeps the value that was made for each key, for a bounded number of keys.
// It may be used from any thread.
type Table[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]V
}

// NewTable returns an empty table for most keys.
func NewTable[K comparable, V any](most int) *Table[K, V] {
	return &Table[K, V]{most: most, values: map[K]V{}}
}

// Get returns the value of a key, and calls fn to make it if there is none. It
// keeps nothing if fn returns an error. A new value may displace any other one,
// which is made anew when it is wanted.
//
// The table is locked while fn runs, so fn must not use the table.
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
