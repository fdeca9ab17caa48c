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
	if err == nil {
		t.put(k, v)
	}
	return v, err
}

// Find returns the value of a key, if there is one; Put keeps one. They are for values
// that take so long to make that two threads had better make the same one than wait.
func (t *Table[K, V]) Find(k K) (v V, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok = t.values[k]
	return v, ok
}

// Put keeps a value under a key, see Find and Get.
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

// Len returns how many there are.
func (t *Table[K, V]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.values)
}
