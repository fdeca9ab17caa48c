package trust

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Note writes a key to a folder's file of keys, as trusted or withdrawn. It replaces
// earlier lines with the key, and makes the folder if it is missing. Processes that call
// it at the same time wait for each other, so that none undoes what another has written.
func Note(folder string, known Known) error {
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
		if !slices.Contains(strings.Fields(line), known.Key.String()) {
			kept.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	kept.WriteString(lineOf(known) + "\n")
	return replace(folder, path, kept.String())
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

// replace writes a file under another name, syncs it, and renames it: after a power cut
// the file has the old text or the new one, and so still withdraws what it withdrew.
func replace(folder, path, text string) error {
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
