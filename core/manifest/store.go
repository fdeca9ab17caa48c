package manifest

import "jitcache/core/key"

// Cache is where sets are kept from one process to the next. It may forget.
type Cache interface {
	// LoadManifests returns what was saved under a key, nil if nothing is there.
	LoadManifests(id *key.ID) []byte
	// SaveManifests replaces it.
	SaveManifests(k *key.Key, data []byte)
}

// Store is the set of one source in this process, and the key under which other
// processes find it in a cache. One goroutine may use a Store.
type Store struct {
	set *Set
	key func() *key.Key
}

// NewStore returns a store with an empty set. key makes the key of the set; it is
// called when the key is needed.
func NewStore(key func() *key.Key) *Store { return &Store{&Set{}, key} }

// Find returns the first list that is unchanged: of the process's own set, else
// of the set in the cache, to which other processes may have added. It replaces
// stamps that were out of date. cache may be nil.
func (s *Store) Find(cache Cache) Found {
	found := s.set.Find()
	if found.List == nil && cache != nil {
		if set, err := ParseSet(cache.LoadManifests(&s.key().ID)); err == nil {
			s.set = set
			found = s.set.Find()
		}
	}
	if found.Stale {
		s.save(cache)
	}
	return found
}

// Add puts a list in front, and saves it if it is not too large. cache may be nil.
func (s *Store) Add(l *List, cache Cache) {
	if s.set.Add(l) {
		s.save(cache)
	}
}

func (s *Store) save(cache Cache) {
	if cache != nil {
		cache.SaveManifests(s.key(), s.set.Append(nil))
	}
}
