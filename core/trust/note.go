// Writes a key to a file of keys, as trusted or withdrawn.

package trust

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Note writes a key to a folder's file of keys, as trusted or withdrawn. It replaces what
// earlier lines say of the key, and makes the folder if it is missing. Processes that call
// it at the same time wait for each other, so that none undoes what another has written.
func Note(folder string, known Known) error {
	if err := checkName(known.Name); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	unlock, err := lock(folder)
	if err != nil {
		return err
	}
	defer unlock()
	path := KeysFile(folder)
	text, err := ReadFile(path)
	if err != nil && !isMissing(err) {
		return fmt.Errorf("%s: %w", path, err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		kept.WriteString(without(line, known.Key))
	}
	kept.WriteString(lineOf(known) + "\n")
	return replaceFile(folder, path, kept.String())
}

// checkName refuses a name that would be more than a name in the file: a second line might
// trust another key, and so might a key, if the line were read in another way.
func checkName(name string) error {
	isKey := func(word string) bool { _, err := ParsePublic(word); return err == nil }
	if strings.ContainsFunc(name, unicode.IsControl) || slices.ContainsFunc(strings.Fields(name), isKey) {
		return fmt.Errorf("%.80q cannot be the name of a key: want one line, and no key in it", name)
	}
	return nil
}

// without returns a line of a file of keys without what it says of a key. What it says of
// others stays: a line that cannot be read withdraws each key in it.
func without(line string, key Public) string {
	var said Keys
	said.parseKeys(line, "")
	is := func(known Known) bool { return known.Key == key }
	if !slices.ContainsFunc(said.All, is) {
		return strings.TrimSuffix(line, "\n") + "\n"
	}
	var kept strings.Builder
	for _, other := range said.All {
		if !is(other) {
			kept.WriteString(lineOf(other) + "\n")
		}
	}
	return kept.String()
}

// lineOf returns the line that names a key.
func lineOf(known Known) string {
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
	return strings.Join(words, " ")
}

// lock locks a folder of settings until unlock is called. Where folders cannot be locked
// (NFS), it does nothing.
func lock(folder string) (unlock func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if locksFolder {
		for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
		}
	}
	return func() { f.Close() }, nil
}

// replaceFile writes a file under another name, syncs it, and renames it: after a power cut
// the file has the old text or the new one, and so still withdraws what it withdrew.
func replaceFile(folder, path, text string) error {
	f, err := os.CreateTemp(folder, ".keys-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
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
