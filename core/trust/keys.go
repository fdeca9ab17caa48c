package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Known is a key that somebody has named.
type Known struct {
	Key       Public
	Name      string // what the user calls it, "" if nothing
	Withdrawn bool   // it was trusted, and is not any more
	// NotBefore is the time, in nanoseconds since 1970, from which it is trusted: what it
	// has signed of entries that were made earlier counts as if it were withdrawn. 0: from
	// ever, for a machine whose clock is before 1970, too.
	NotBefore int64
	Source    string // who has named it, as Setting.Source
}

// Keys are the keys that environment, user and machine have named.
type Keys struct {
	All []Known
	// Namespace is in every signature: entries that were signed for another project or
	// tenant are not those of this one.
	Namespace string
	// Problems say in a line each what is ignored, and why.
	Problems []string

	// unread says that a file of keys is there and cannot be read. It may withdraw any
	// key, so all of them count as withdrawn.
	unread bool
}

// keysVariable names keys in the environment.
const keysVariable = "JITCACHE_KEYS"

// KeysFile returns the file of a folder in which keys are named: a line each, the key
// and what it is called; with the word "withdrawn" before a key that is not trusted any
// more, or "not-before=TIME" before one that is trusted from then on.
func KeysFile(folder string) string { return folder + "/keys" }

// ReadKeys reads the keys: of the environment, where commas stand for the ends of lines,
// and of the file in each folder. A key that one of them withdraws is not trusted,
// whoever names it.
func ReadKeys(env func(string) string, folders []string, namespace string) *Keys {
	k := &Keys{Namespace: namespace}
	if !heedsNamespace && len(namespace) > mostNamespace {
		k.Namespace = ""
	}
	if err := k.CheckNamespace(); err != nil {
		k.Problems = append(k.Problems, err.Error())
	}
	k.parse(strings.ReplaceAll(env(keysVariable), ",", "\n"), keysVariable)
	for _, folder := range folders {
		path := KeysFile(folder)
		text, err := ReadFile(path)
		switch {
		case err == nil:
			k.parse(string(text), path)
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

// CheckNamespace returns an error if nothing can be signed for the namespace. What was
// signed for another one, or for none, is not this one's then either: a tenant that is
// not told from others would use theirs.
func (k *Keys) CheckNamespace() error {
	if heedsNamespace && len(k.Namespace) > mostNamespace {
		return fmt.Errorf("namespace is longer than %d bytes: nothing is signed for it, and nothing that is signed is used", mostNamespace)
	}
	return nil
}

// What stands before a key.
const (
	withdrawnWord = "withdrawn"
	notBeforeWord = "not-before="
)

// ParseTime reads a time as RFC 3339 has it, or a date, whose day begins in UTC. It returns
// nanoseconds since 1970, and 1 for 0, which would be no bound.
func ParseTime(text string) (int64, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 2262 { // what nanoseconds have room for
			return max(t.UnixNano(), 1), nil
		}
	}
	return 0, fmt.Errorf("%.60q is no time: want 2026-01-31 or 2026-01-31T10:00:00Z", text)
}

func (k *Keys) parse(text, source string) {
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
// bounded them, and somebody else may trust them without bounds.
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

// Rejects reports whether an entry that a key has signed, and that was made then, is not
// used on the word of that key, though somebody has once trusted it.
func (k *Keys) Rejects(p Public, made int64) bool {
	return k.Withdraws(p) || heedsWithdrawn && slices.ContainsFunc(k.All, func(o Known) bool {
		return o.Key == p && o.NotBefore != 0 && made < o.NotBefore
	})
}

// Any reports whether any key is trusted.
func (k *Keys) Any() bool {
	return slices.ContainsFunc(k.All, func(o Known) bool { return k.Trusts(o.Key) })
}

// AnyWithdrawn reports whether there is anything that Rejects may reject.
func (k *Keys) AnyWithdrawn() bool {
	return heedsWithdrawn && (k.unread || slices.ContainsFunc(k.All, func(o Known) bool { return o.Withdrawn || o.NotBefore != 0 }))
}

// Accepts reports whether a key that is trusted has signed a statement.
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

// Note writes down in a folder that a key is trusted, or withdrawn, in place of what is
// written there of it. It makes the folder if need be.
func Note(folder string, known Known) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	path := KeysFile(folder)
	text, err := ReadFile(path)
	if err != nil && !isMissing(err) {
		return fmt.Errorf("%s: %w", path, err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !slices.Contains(strings.Fields(line), known.Key.String()) {
			kept.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	words := []string{known.Key.String()}
	if known.NotBefore != 0 {
		words = []string{notBeforeWord + time.Unix(0, known.NotBefore).UTC().Format(time.RFC3339Nano), words[0]}
	}
	if known.Withdrawn {
		words = append([]string{withdrawnWord}, words...)
	}
	if known.Name != "" {
		words = append(words, known.Name)
	}
	kept.WriteString(strings.Join(words, " ") + "\n")
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(kept.String())
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
