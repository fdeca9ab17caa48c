// What a pattern matches.

package wildcard

import (
	"path"
	"testing"
)

// Names have no slash, so that path.Match says the same of them.
func TestStarStandsForAnything(t *testing.T) {
	names := []string{"", "A", "AB", "A_B", "A_PORT_1_TCP", "A_PORT__TCP", "_PORT_1_TCP", "A_PORT_1_TCP_ADDR", "PORT_1_TCP", "A_PORT_TCP", "ABAB", "BA"}
	for _, pattern := range []string{"", "*", "A", "A*", "*A", "A*B", "*B*", "*_PORT_*_TCP", "*_PORT_*_TCP*", "*AB", "**B", "A**"} {
		for _, name := range names {
			if want, err := path.Match(pattern, name); err != nil || Matches(name, pattern) != want {
				t.Errorf("%q by %q: %v, want %v", name, pattern, !want, want)
			}
		}
	}
}
