// The settings of a directory, which hold for all its users; and sizes as text.

package store

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Config has the settings of a cache directory, which hold for all its users. They are
// in v1/config, as lines of "name = value". Names that this version does not know are
// kept.
type Config struct {
	// MaxSize is the cap in bytes; 0 is unlimited.
	MaxSize int64
	// Shared says that several users have agreed to trust each other here.
	Shared bool

	other []string // lines with unknown names, and comments
}

// DefaultMaxSize is the cap of a directory if none was set: 5 GiB, like ccache's. A CUB
// kernel is 120 KB, a Cython solver 1 MB.
const DefaultMaxSize = 5 << 30

// configHead is the first line that encode writes.
const configHead = "# jitcache: settings of this directory; see `jitcache config`"

// parseConfig reads the settings. It fails if the cap is not a size: with the default in
// its place the next put could evict most of a larger cache.
func parseConfig(b []byte) (Config, error) {
	c := Config{MaxSize: DefaultMaxSize}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case line == "" || line == configHead:
		case ok && name == "max-size":
			n, err := ParseSize(value)
			if err != nil {
				return c, fmt.Errorf("max-size: %w", err)
			}
			c.MaxSize = n
		case ok && name == "shared":
			c.Shared = value == "true"
		default:
			c.other = append(c.other, line)
		}
	}
	return c, nil
}

func (c Config) encode() []byte {
	var b bytes.Buffer
	b.WriteString(configHead + "\n")
	fmt.Fprintf(&b, "max-size = %d\n", c.MaxSize)
	fmt.Fprintf(&b, "shared = %t\n", c.Shared)
	for _, line := range c.other {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// ParseSize reads a size: a number with an optional unit, decimal (k, M, G, T)
// or binary (Ki, Mi, Gi, Ti), as in ccache: "5G" is 5e9, "5Gi" 5 x 2^30. "0" is
// unlimited wherever a cap is meant.
func ParseSize(s string) (int64, error) {
	t := strings.TrimSpace(s)
	unit := int64(1)
	base := int64(1000)
	if u, ok := strings.CutSuffix(t, "B"); ok {
		t = u
	}
	if u, ok := strings.CutSuffix(t, "i"); ok {
		t, base = u, 1024
	}
	if n := len(t); n > 0 {
		switch t[n-1] {
		case 'k', 'K':
			unit = base
		case 'm', 'M':
			unit = base * base
		case 'g', 'G':
			unit = base * base * base
		case 't', 'T':
			unit = base * base * base * base
		}
	}
	if unit > 1 {
		t = strings.TrimSpace(t[:len(t)-1])
	} else if base == 1024 {
		return 0, fmt.Errorf("size %q: want a number and k, M, G, T, Ki, Mi, Gi or Ti", s)
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || f < 0 || f*float64(unit) > 1<<62 || f != f {
		return 0, fmt.Errorf("size %q: want a number and k, M, G, T, Ki, Mi, Gi or Ti", s)
	}
	return int64(f * float64(unit)), nil
}

// FormatSize prints a size for people, in the binary units that ParseSize reads.
func FormatSize(n int64) string {
	const units = "KMGT"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1023.95 && i < len(units)-1 {
		f /= 1024
		i++
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// FormatEntries prints a number of entries for people.
func FormatEntries[N int | int64 | uint64](n N) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// Configure changes the settings of the directory: change gets what the file has now, and
// not what it had when the directory was opened. Processes that change settings at the
// same time wait for each other, so that none undoes what another has set.
func (s *Store) Configure(change func(*Config)) error {
	if lock := s.waitConfig(); lock != nil {
		defer lock.Unlock()
	}
	dir, e := s.openDirBelow("")
	if e != 0 {
		return asError("open", s.v1, e)
	}
	defer closeFd(dir)
	c, err := s.readConfig(s.config)
	if err != nil {
		return err
	}
	change(&c)
	if e := s.replaceFile(dir, "config", c.encode()); e != 0 {
		return asError("write", s.v1+"/config", e)
	}
	s.config = c
	return nil
}

// readConfig reads the settings of the directory, and returns missing if it has no file of
// them.
func (s *Store) readConfig(missing Config) (Config, error) {
	text, e := s.readSmall("config", mostConfig+1)
	switch {
	case e == unix.ENOENT:
		return missing, nil
	case e != 0:
		// With the default in place of a larger cap, which is unknown if there is no
		// free descriptor for example, a put could evict most of the cache.
		return missing, &Refused{reasonOf(e), s.root, "v1/config: " + e.Error(), ""}
	case len(text) > mostConfig: // the cap may be beyond it, or cut in the middle
		return missing, &Refused{Malformed, s.root, fmt.Sprintf("v1/config: it is larger than %d bytes", mostConfig), ""}
	}
	c, err := parseConfig(text)
	if err != nil {
		return missing, &Refused{Malformed, s.root, "v1/config: " + err.Error(), ""}
	}
	return c, nil
}

// configWait is how long a change of settings waits for those of others, which take a
// millisecond. Then it goes on without the lock: a process that was stopped while it held
// the lock keeps nobody.
const configWait = time.Second

// waitConfig takes the lock of the settings, and returns nil where it cannot.
func (s *Store) waitConfig() unlocker {
	for end := time.Now().Add(configWait); locksConfig; time.Sleep(time.Millisecond) {
		lock, err := s.TryLock("config", nil)
		if lock != nil {
			return lock
		}
		if err != nil || time.Now().After(end) {
			break
		}
	}
	return nil
}
