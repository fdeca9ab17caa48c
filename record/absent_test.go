// Names that were absent, in folders that may not be listed.

package record

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// A folder may be entered that may not be listed: each name is asked for.
func TestNameThatAppearsInAFolderThatMayNotBeListedIsNoticed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	w := newWorld(t)
	w.put("dark/there", "")
	os.Chmod(w.dir+"/dark", 0o711)
	f := Folder{Path: w.dir + "/dark", Absent: []string{"there"}}
	for len(f.Absent) <= 64 {
		f.Absent = append(f.Absent, "none"+strings.Repeat("x", len(f.Absent)))
	}
	w.openWay()
	err := asNobody(func() error {
		if unix.Access(w.dir+"/dark", unix.R_OK) == nil {
			t.Error("it may be listed")
		}
		return (&taker{run: &Run{Dir: w.dir, Report: &observe.Report{}}, list: &List{}, reals: map[string]string{}}).settle(&f)
	})
	if err == nil || !strings.Contains(err.Error(), "there: appeared during the run") {
		t.Error(err)
	}
}
