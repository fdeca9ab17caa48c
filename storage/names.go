// The names under which an engine keeps the values of keys.

package storage

import (
	"encoding/hex"
	"regexp"
	"strings"

	"jitcache/storage/engine"
)

// ours matches the keys of the library, which package core/remote writes. All other keys belong
// to another client, ccache.
var ours = regexp.MustCompile(`^jitcache/1/[A-Za-z0-9_=-]+/[0-9a-f]{64}$`)

// nameOf returns the name under which an engine keeps the value of a key.
func nameOf(key []byte) engine.Name {
	if ours.Match(key) {
		return engine.Name{Parts: strings.Split(string(key), "/")}
	}
	return engine.Name{Parts: []string{hex.EncodeToString(key)}}
}
