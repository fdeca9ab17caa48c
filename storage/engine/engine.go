// Engine: what a remote must do, and the settings that one is made of.

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Engine keeps values under names. Its methods may be called from any goroutine.
type Engine interface {
	// Get returns the value of a name, of at most limit bytes: ErrNotFound, ErrTooLarge.
	Get(ctx context.Context, n Name, limit int64) ([]byte, error)
	// Put stores a value, for as long as the engine keeps values, and reports whether it was
	// stored. Without overwrite a value that is there stays.
	Put(ctx context.Context, n Name, value []byte, overwrite bool) (stored bool, err error)
	// Atomic reports whether Put without overwrite is one step, so that exactly one of several
	// concurrent callers stores its value. A server may still ignore such conditions.
	Atomic() bool
	// Remove removes a value, and reports whether there was one.
	Remove(ctx context.Context, n Name) (removed bool, err error)
	// Probe sends a request to which any answer shows that the engine is up.
	Probe(ctx context.Context) error
	Close()
}

// Batch is an Engine that gets many values in one round trip.
type Batch interface {
	// GetMany returns what Get does for each name, in their order.
	GetMany(ctx context.Context, names []Name, limit int64) []Answer
}

// Answer is the result of a Get.
type Answer struct {
	Value []byte
	Err   error
}

// Name is the name of a value: parts of letters, digits and _-= only.
type Name struct {
	// Parts of a name of ours are "jitcache", "1", the namespace and the key's digits. A single
	// part has the digits of another client's key.
	Parts []string
}

// Ours reports whether it is a name that jitcache has made.
func (n Name) Ours() bool { return len(n.Parts) > 1 }

// Brief reports whether a value of ours is useful for minutes only: its last part has a "-".
func (n Name) Brief() bool { return n.Ours() && strings.Contains(n.Parts[len(n.Parts)-1], "-") }

// pathIn returns the name as a path below a root that may hold millions of values.
func (n Name) pathIn(layout string) string {
	last := n.Parts[len(n.Parts)-1]
	switch {
	case layout == "bazel" && !n.Ours():
		// As many digits as a SHA-256 has.
		return "ac/" + (last + last + strings.Repeat("0", 64))[:64]
	case layout != "flat" && len(last) > 2:
		last = last[:2] + "/" + last[2:]
	}
	return strings.Join(append(slices.Clone(n.Parts[:len(n.Parts)-1]), last), "/")
}

// The errors of requests, beside those of the network.
var (
	ErrNotFound = errors.New("not found")
	// ErrDenied: the credentials are not, or no longer, sufficient.
	ErrDenied = errors.New("access denied")
	// ErrTooLarge: the value is larger than what the caller takes.
	ErrTooLarge = errors.New("too large")
	// ErrRefused: the engine is up and does not do this, for now or at all.
	ErrRefused = errors.New("refused")
)

// Config is what an engine is made of.
type Config struct {
	URL        *url.URL
	Attributes map[string]string
}

// known are the attributes and their meanings. Those that begin with @ are written as in ccache.
var known = map[string]string{
	"layout":            "subdirs, flat or bazel: how keys of ccache become paths",
	"bearer-token":      "for HTTP",
	"bearer-token-file": "for HTTP; it is read again for each request",
	"header":            "for HTTP: NAME=VALUE",
	"ttl":               "for how long Redis keeps what is not used: 90d, 12h",
	"ca-file":           "certificates that TLS trusts beside the system's",
	"timeout":           "how long a request may take at most: 10s",
	"max-object":        "bytes of the largest value",
	"trust":             "", "read-only": "", // the library's
}

// ErrUsage is the error of an invalid URL or attribute.
var ErrUsage = errors.New("wrong use")

// usage makes an error of ErrUsage.
func usage(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrUsage, fmt.Sprintf(format, a...))
}

// Check returns the attribute that is unknown.
func (c *Config) Check() error {
	for _, name := range slices.Sorted(maps.Keys(c.Attributes)) {
		if _, ok := known[strings.TrimPrefix(name, "@")]; !ok {
			return usage("unknown attribute %q", name)
		}
	}
	return nil
}

// attribute returns an attribute, with or without @.
func (c *Config) attribute(name string) string {
	if v, ok := c.Attributes["@"+name]; ok {
		return v
	}
	return c.Attributes[name]
}

// Limit is the largest value that is accepted, unless the attribute max-object sets another.
const Limit = 256 << 20

// Limits returns the largest value and the longest time of a request.
func (c *Config) Limits() (bytes int64, timeout time.Duration, err error) {
	bytes, timeout = Limit, 10*time.Second
	if v := c.attribute("max-object"); v != "" {
		if bytes, err = strconv.ParseInt(v, 10, 64); err != nil || bytes <= 0 || bytes > 1<<30 {
			return 0, 0, usage("max-object=%q: want bytes, at most 1 GiB", v)
		}
	}
	if v := c.attribute("timeout"); v != "" {
		if timeout, err = time.ParseDuration(v); err != nil || timeout <= 0 {
			return 0, 0, usage("timeout=%q: want a time such as 10s", v)
		}
	}
	return bytes, timeout, nil
}

// layout returns how keys become paths.
func (c *Config) layout() (string, error) {
	switch l := c.attribute("layout"); l {
	case "":
		return "subdirs", nil
	case "subdirs", "flat", "bazel":
		return l, nil
	default:
		return "", usage("layout=%q: want subdirs, flat or bazel", l)
	}
}

// connecting is how long connecting may take: long enough for any handshake within a site after
// a second SYN.
const connecting = 2 * time.Second

// readAll reads a value of at most limit bytes. size is the announced size, -1 for none. It
// allocates memory only as bytes come.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, ErrTooLarge
	}
	value, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(value)) > limit:
		return nil, ErrTooLarge
	case size >= 0 && int64(len(value)) != size:
		return nil, io.ErrUnexpectedEOF
	}
	return value, nil
}

// wrap makes an error of a kind with a text, which comes from another machine.
func wrap(kind error, text string) error { return &told{kind, text} }

type told struct {
	kind error
	text string
}

func (t *told) Error() string { return t.kind.Error() + ": " + t.text[:min(len(t.text), 150)] }

func (t *told) Unwrap() error { return t.kind }
