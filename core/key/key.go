// Key: what a result depends on, hashed; its limits, and its difference from another key.

package key

import (
	"encoding/hex"
	"fmt"
)

// ID names one request: the hash of everything its result depends on.
type ID [32]byte

// Digest is the hash of some content. It is never used to name an entry.
type Digest [32]byte

// Key is a sealed set of components: what to look up, and what is remembered
// beside the result to explain a later miss. A Key does not change.
type Key struct {
	ID ID
	// Name is what the user would call the thing ("saxpy"). Not hashed; may be
	// empty.
	Name string
	// Kind groups entries for statistics and Clear ("cubin", "native"). Not
	// hashed; [DefaultKind] unless set.
	Kind string
	// Parts are the components, sorted by label, each reduced to its digest.
	Parts []Part
	// Inputs are the files that were read to build the key.
	Inputs []Input
}

// Part is a component of a sealed key: its label, and a short digest of its value.
type Part struct {
	Label string
	Short Short
}

// Short is the first eight bytes of the BLAKE3 of a component's value: enough
// to say which component changed, too little to name anything.
type Short [8]byte

// DefaultKind is the kind of a key for which none was set.
const DefaultKind = "generic"

// NoteKind is the kind of the cache's own entries, which no caller has made: the records of
// what compiles have looked at, and what else one process notes for others.
const NoteKind = "manifest"

// IsInternal reports whether a kind is that of entries which are no results: what an adapter
// notes for its own later lookups. Such a kind begins with "_".
func IsInternal(kind []byte) bool { return len(kind) > 0 && kind[0] == '_' }

// Limits of a key. They bound the stored keys that a reader must accept; the largest
// label seen in practice is a compiler option of some 40 bytes.
const (
	MaxLabel = 1024 // bytes of a label
	MaxName  = 1024 // bytes of a name
	MaxKind  = 16   // bytes of a kind: its field in the entry's footer
	MaxParts = 1 << 16
	MaxPath  = 4096 // bytes of the path of an input, Linux's PATH_MAX
)

// String returns the ID as 64 hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads the 64 hex digits that String prints, in either case.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return ID{}, fmt.Errorf("key %q: want %d hex digits, have %d", s, 2*len(id), len(s))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("key %q: not hex", s)
	}
	return id, nil
}

// FromID returns the key for an ID that was computed elsewhere. It has no
// components, so its misses cannot be explained.
func FromID(id ID) *Key { return &Key{ID: id, Kind: DefaultKind} }

// Changed returns the labels whose digests differ between k and old, those that only k
// has, and those that only old has, each in order.
func (k *Key) Changed(old []Part) (changed, added, removed []string) {
	i, j := 0, 0
	for i < len(k.Parts) || j < len(old) {
		switch {
		case j == len(old) || i < len(k.Parts) && k.Parts[i].Label < old[j].Label:
			added = append(added, k.Parts[i].Label)
			i++
		case i == len(k.Parts) || old[j].Label < k.Parts[i].Label:
			removed = append(removed, old[j].Label)
			j++
		default:
			if k.Parts[i].Short != old[j].Short {
				changed = append(changed, k.Parts[i].Label)
			}
			i++
			j++
		}
	}
	return changed, added, removed
}

// CheckKind returns an error unless kind is 1 to 16 bytes of lower-case
// letters, digits, '_', '-' and '.'.
func CheckKind(kind string) error {
	if kind == "" || len(kind) > MaxKind {
		return fmt.Errorf("kind %q: want 1 to %d bytes", kind, MaxKind)
	}
	for _, c := range []byte(kind) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		default:
			return fmt.Errorf("kind %q: want lower-case letters, digits, '_', '-' and '.'", kind)
		}
	}
	return nil
}
