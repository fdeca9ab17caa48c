//go:build control

package control

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// out is what this build goes without: names with commas between, and dots behind. The
// linker sets it, or it is written into the linked file (tests/areas/without.py).
var out string

//go:embed controls.txt
var list string

var (
	known = names(list)
	gone  = strings.Split(strings.TrimRight(out, "."), ",")
)

func names(list string) (found []string) {
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			found = append(found, f[0])
		}
	}
	return found
}

// A control build that takes out nothing, or something that does not exist, would
// be like any other build, and its tests green.
func init() {
	for _, name := range gone {
		Is(name)
	}
}

// Is reports whether this build goes without what a name stands for. It panics if
// controls.txt has no such name.
func Is(name string) bool {
	if !slices.Contains(known, name) {
		panic(fmt.Sprintf("controls.txt has no control %q", name))
	}
	return slices.Contains(gone, name)
}
