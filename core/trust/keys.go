// The keys that the settings name: which are trusted, from when on, and which were withdrawn.

package trust

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Known is a key that a setting names.
type Known struct {
	Key       Public
	Name      string // the user's name for it, may be ""
	Withdrawn bool   // it is no longer trusted
	// NotBefore is the time, in nanoseconds since 1970, from which it is trusted. For
	// entries that were made earlier it counts as withdrawn. 0: it is always trusted, also
	// for entries of a machine whose clock is before 1970.
	NotBefore int64
	Source    string // where it is named, as Setting.Source
}

// Keys are the keys that the environment, the user and the machine have named.
type Keys struct {
	All []Known
	// Namespace is part of every signature: signatures for another project or tenant do
	// not count.
	Namespace string
	// Problems has a line for each thing that is ignored, with the reason.
	Problems []string

	// unread says that a file of keys exists and cannot be read. It may withdraw any key,
	// so all keys count as withdrawn.
	unread bool
}

// keysVariable names keys in the environment.
const keysVariable = "JITCACHE_KEYS"

// KeysFile returns the path of a folder's file of keys. Each line has a key and its name.
// The word "withdrawn" before a key says that it is no longer trusted, "not-before=TIME"
// that it is trusted from that time on.
func KeysFile(folder string) string { return folder + "/keys" }

// ReadKeys reads the keys of the environment, where commas stand for line ends, and those
// of the file in each folder. A key that one of them withdraws is not trusted, even if
// another names it.
func ReadKeys(env func(string) string, folders []string, namespace string) *Keys {
	k := &Keys{Namespace: namespace}
	if !heedsNamespace && len(namespace) > mostNamespace {
		k.Namespace = ""
	}
	if err := k.CheckNamespace(); err != nil {
		k.Problems = append(k.Problems, err.Error())
	}
	k.parseKeys(strings.ReplaceAll(env(keysVariable), ",", "\n"), keysVariable)
	for _, folder := range folders {
		path := KeysFile(folder)
		text, err := ReadFile(path)
		switch {
		case err == nil:
			k.parseKeys(string(text), path)
		case isOthers(err):
			k.Problems = append(k.Problems, fmt.Sprintf("%s is ignored: %v", path, err))
		case !isMissing(err):
			k.unread = true
			k.Problems = append(k.Problems, fmt.Sprintf("%s is ignored: %v; it may withdraw any key, so nothing that is signed is used", path, err))
		}
	}
	return k
}

const mostNamespace = 255

// CheckNamespace returns an error if the namespace is too long to sign for it. Such a
// namespace is not treated as another one, or as none: the tenant would use entries of
// others.
func (k *Keys) CheckNamespace() error {
	if heedsNamespace && len(k.Namespace) > mostNamespace {
		return fmt.Errorf("namespace is longer than %d bytes: nothing is signed for it, and nothing that is signed is used", mostNamespace)
	}
	return nil
}

// Words before a key.
const (
	withdrawnWord = "withdrawn"
	notBeforeWord = "not-before="
)

// ParseTime reads a time of RFC 3339, or a date, which means its beginning in UTC. It
// returns nanoseconds since 1970; in place of 0, which is no bound, it returns 1.
func ParseTime(text string) (int64, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 2262 { // what nanoseconds have room for
			return max(t.UnixNano(), 1), nil
		}
	}
	return 0, fmt.Errorf("%.60q is not a time: want 2026-01-31 or 2026-01-31T10:00:00Z", text)
}

func (k *Keys) parseKeys(text, source string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		known := Known{Source: source}
		var err error
		for ; len(words) > 1 && err == nil; words = words[1:] {
			if text, ok := strings.CutPrefix(words[0], notBeforeWord); ok {
				known.NotBefore, err = ParseTime(text)
			} else if words[0] == withdrawnWord {
				known.Withdrawn = true
			} else {
				break
			}
		}
		if err == nil {
			known.Key, err = ParsePublic(words[0])
		}
		if err != nil {
			k.Problems = append(k.Problems, fmt.Sprintf("%s: %v", source, err))
			k.doubt(words, source)
			continue
		}
		known.Name = strings.TrimSpace(strings.Join(words[1:], " "))
		k.All = append(k.All, known)
	}
}

// doubt withdraws the keys in a line that cannot be read. The line may have withdrawn or
// bounded them, and another file may name them without bounds.
func (k *Keys) doubt(words []string, source string) {
	for _, word := range words {
		if p, err := ParsePublic(word); err == nil {
			k.All = append(k.All, Known{Key: p, Withdrawn: true, Source: source})
		}
	}
}

// Trusts reports whether a key is trusted.
func (k *Keys) Trusts(p Public) bool {
	return slices.ContainsFunc(k.All, func(o Known) bool { return o.Key == p }) && !k.Withdraws(p)
}

// Withdraws reports whether a key was withdrawn.
func (k *Keys) Withdraws(p Public) bool {
	return heedsWithdrawn && (k.unread && p != Public{} || slices.ContainsFunc(k.All, func(o Known) bool { return o.Key == p && o.Withdrawn }))
}

// Rejects reports whether a key's signature does not count for an entry made at that time,
// because the key was withdrawn or is trusted only from a later time on.
func (k *Keys) Rejects(p Public, made int64) bool {
	return k.Withdraws(p) || heedsWithdrawn && slices.ContainsFunc(k.All, func(o Known) bool {
		return o.Key == p && o.NotBefore != 0 && made < o.NotBefore
	})
}

// Any reports whether any key is trusted.
func (k *Keys) Any() bool {
	return slices.ContainsFunc(k.All, func(o Known) bool { return k.Trusts(o.Key) })
}

// AnyWithdrawn reports whether Rejects may reject anything.
func (k *Keys) AnyWithdrawn() bool {
	return heedsWithdrawn && (k.unread || slices.ContainsFunc(k.All, func(o Known) bool { return o.Withdrawn || o.NotBefore != 0 }))
}

// Accepts reports whether a trusted key has signed a statement.
func (k *Keys) Accepts(st *Statement, signatures []Signature) bool {
	var message []byte
	for i := range signatures {
		if by := signatures[i].By; !k.Trusts(by) || k.Rejects(by, st.Created) {
			continue
		}
		if message == nil {
			message = st.Message(k.Namespace)
		}
		if signatures[i].Holds(message) {
			return true
		}
	}
	return false
}
