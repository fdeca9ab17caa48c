package record

import (
	"os"
	"testing"
)

func TestLoadersCacheCountsWholeForWhoReadsItHimself(t *testing.T) {
	if _, err := os.Stat(loaderCache); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, script string
		flag         FileFlags
	}{
		{"loader", "cat file", Loader},
		{"printed", "cat file; for l in /sbin/ldconfig.real /sbin/ldconfig; do [ -x $l ] && exec $l -p; done", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("file", "1\n")
			for _, f := range w.taken(c.script).Files {
				if f.Path == loaderCache && f.Flags&Loader != c.flag {
					t.Errorf("flags %b", f.Flags)
				}
			}
		})
	}
}
