// Control builds: which mechanisms this one leaves out.

//go:build control

package control

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// out has the names of the mechanisms that this build leaves out, separated by commas
// and padded with dots. The linker sets it, or it is written into the linked file
// (tests/areas/without.py).
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

// A control build that leaves out nothing, or something that does not exist, would be
// like any other build, and its tests would pass.
func init() {
	for _, name := range gone {
		Is(name)
	}
}

// Is reports whether this build leaves out the mechanism with a name. It panics if
// controls.txt does not have the name.
func Is(name string) bool {
	if !slices.Contains(known, name) {
		panic(fmt.Sprintf("controls.txt has no control %q", name))
	}
	return slices.Contains(gone, name)
}
