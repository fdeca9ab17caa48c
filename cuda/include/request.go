package include

import (
	"fmt"

	"jitcache/core/key"
	"jitcache/core/manifest"
)

// Request is a program as it is given to NVRTC, as far as headers go.
type Request struct {
	// Source is the text, and Name what nvrtcCreateProgram calls it: quoted names
	// are looked for in its folder. Empty means "default_program".
	Source, Name string
	// Headers are those in memory.
	Headers []Header
	// Dirs are the values of -I (--include-path), in order, as they were given.
	Dirs []string
	// PreIncludes are the values of -include (--pre-include), in order.
	PreIncludes []string
	// Macros are the values of -D (--define-macro): "NAME", "NAME=BODY" or
	// "NAME(PARAMS)=BODY". Those of -U do not matter: all definitions count.
	Macros []string
	// Standard is the value of --std; empty means "c++17".
	Standard string
	// NoSourceInclude is --no-source-include.
	NoSourceInclude bool
}

// Header is a header in memory: its name as nvrtcCreateProgram was given it,
// and its text.
type Header struct{ Name, Text string }

// Closure is every file that NVRTC could read for a program.
type Closure struct {
	// List is for a check by stat later. Its payload is [Closure.Payload].
	List *manifest.List
	// Digest is of the headers' contents, those in memory included, and of which
	// directive leads to which: no path is in it, and the same tree elsewhere has
	// the same digest. With the source, its options and the compiler it decides
	// the result, unless ShowsPaths or an option puts paths into that.
	Digest key.Digest
	// Paths is of the paths as NVRTC would show them.
	Paths key.Digest
	// ShowsPaths: a text has a word that may put a path into the result, such as
	// __FILE__.
	ShowsPaths bool
	// ShowsTime: a text has __DATE__ or __TIME__, and the result may differ from
	// one compile to the next.
	ShowsTime bool
}

// payload: digest 32, paths 32, flags 1.
const payloadSize = 2*len(key.Digest{}) + 1

// Payload returns what a later hit needs of the closure, as bytes.
func (c *Closure) Payload() []byte {
	b := append(append([]byte(nil), c.Digest[:]...), c.Paths[:]...)
	return append(b, bit(c.ShowsPaths)|bit(c.ShowsTime)<<1)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// FromList returns the closure that a list was stored for.
func FromList(l *manifest.List) (*Closure, error) {
	if len(l.Payload) != payloadSize || l.Payload[payloadSize-1] > 3 {
		return nil, fmt.Errorf("manifest of a closure: payload of %d bytes", len(l.Payload))
	}
	c := &Closure{List: l, Digest: key.Digest(l.Payload), Paths: key.Digest(l.Payload[32:])}
	flags := l.Payload[payloadSize-1]
	c.ShowsPaths, c.ShowsTime = flags&1 != 0, flags&2 != 0
	return c, nil
}
