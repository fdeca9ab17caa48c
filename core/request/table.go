// Table: a bounded map from keys to values that take long to make.

package request

import "sync"

// Table keeps a value for each of a bounded number of keys. Any thread may use it.
type Table[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]V
}

// NewTable returns an empty table for at most so many keys.
func NewTable[K comparable, V any](most int) *Table[K, V] {
	return &Table[K, V]{most: most, values: map[K]V{}}
}

// Get returns the value of a key. If there is none, it calls fn to make it. It keeps
// nothing if fn returns an error. A new value may replace that of any other key, which
// is made again when it is needed.
//
// The table is locked while fn runs, so fn must not use the table.
func (t *Table[K, V]) Get(k K, fn func() (V, error)) (V, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.values[k]; ok {
		return v, nil
	}
	v, err := fn()
	if err == nil {
		t.put(k, v)
	}
	return v, err
}

// Find returns the value of a key, if there is one. Find and Put are for values that take
// long to make: instead of waiting, two threads may make the same one.
func (t *Table[K, V]) Find(k K) (v V, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok = t.values[k]
	return v, ok
}

// Put keeps a value for a key, see Find.
func (t *Table[K, V]) Put(k K, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(k, v)
}

func (t *Table[K, V]) put(k K, v V) {
	for other := range t.values {
		if len(t.values) < t.most {
			break
		}
		delete(t.values, other)
	}
	t.values[k] = v
}

// Len returns the number of values.
func (t *Table[K, V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.values)
}
