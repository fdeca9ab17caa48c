// Links to the launcher under the names of other programs.

package launch

import (
	"os"
	"path/filepath"
	"strings"
)

// Real returns the program that a link to the launcher stands for: the next one of the same
// name in PATH that is not the launcher again; "" if there is none. name is the first word
// that the launcher was started with.
func Real(name string) string {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return ""
	}
	base := filepath.Base(name)
	var found string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir == "" {
			dir = "."
		}
		path := dir + "/" + base
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		if os.SameFile(info, self) {
			found = "" // a program before the launcher is one that has started it
			continue
		}
		if found == "" {
			found = path
		}
	}
	return found
}

// IsLink reports whether the launcher was started by a link that stands for another
// program.
func IsLink(name string) bool {
	base := filepath.Base(name)
	return base != "" && !strings.HasPrefix(base, "jitcache")
}
