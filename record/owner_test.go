// The owner of a file counts for who is told.

package record

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// stat says to everybody whose a file is, and a script may go by that.
//
//jitcache:control noowners shell python
func TestOwnerCountsForWhoIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		words  []string
		counts bool
	}{
		"shell":       {[]string{"/bin/sh", "-c", "test -O f"}, true},
		"read":        {[]string{"/bin/sh", "-c", "read x < f"}, false},
		"python":      {[]string{"python3", "-c", "import os; os.stat('f')"}, true},
		"python read": {[]string{"python3", "-c", "open('f').read()"}, false},
		"known":       {[]string{"gcc", "-x", "c", "-include", "f", "-c", "/dev/null", "-o", "o"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if program, err := exec.LookPath(c.words[0]); err == nil {
				c.words[0] = program
			} else {
				t.Skip(err)
			}
			w := newWorld(t)
			path := w.put("f", "\n")
			settle()
			l := w.takenOf(c.words...)
			// Who may not give a file away has a list that says that somebody has.
			if os.Chown(path, 1, 1) != nil {
				i := slices.IndexFunc(l.Files, func(f File) bool { return f.Path == "f" })
				l.Files[i].Owner, l.Files[i].Stamp.Ctime = 1<<32|1, 0
			}
			w.compare(l, c.counts, "owner")
		})
	}
}
