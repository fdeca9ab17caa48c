// The default access lists of folders in which a command has made files.

package record

import (
	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// A folder with a default access list (acl(5)) gives permissions to what is made in it, in place of
// the umask. So the list counts for a command whose outputs stay where it puts them.

// Given in How asks for a folder's default access list.
const Given = 64

// defaultList returns 0 for a folder without a default access list, else a digest of it.
func defaultList(path string) uint32 {
	list := make([]byte, attributeNames)
	n, err := unix.Getxattr(path, "system.posix_acl_default", list)
	if err != nil || n <= 0 {
		return 0
	}
	return hashed(list[:n]) | 1
}

// given notes the default access lists of the folders in which the command has made files.
func (t *taker) given() {
	if !keepsGiven {
		return
	}
	for i := range t.run.Report.Files {
		f := &t.run.Report.Files[i]
		folder, _ := split(f.Path)
		if f.Name == "" || f.How&(observe.Created|observe.Replaced) == 0 || f.How&observe.Removed != 0 || t.made[folder] || IsScratch(f.Path) {
			continue
		}
		t.ask(f, Given)
	}
}
