// Files that a program gets open from another one.

package observe

import (
	"strings"
	"testing"
)

// readers returns the programs that have read a file, by the ends of their paths.
func (r *Report) readers(path string) (all []string) {
	n := r.named(path)
	for _, p := range r.Programs {
		if n != nil && n.Readers&(1<<p.ID) != 0 {
			all = append(all, p.Path[strings.LastIndexByte(p.Path, '/')+1:])
		}
	}
	return all
}

//jitcache:control JO_CONTROL_HANDED
func TestProgramThatGetsAFileOpenIsOneOfItsReaders(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/f", "1\n")
	for _, c := range []struct {
		script string
		reads  bool
	}{
		{"wc -c <f", true},
		{"wc -c 7<f /dev/null", true},
		{"read line <f; wc -c /dev/null", false},
		{"exec 7<f; exec 7<&-; wc -c /dev/null", false},
	} {
		readers := sh(t, dir, c.script).readers(dir + "/f")
		if is := strings.Contains(strings.Join(readers, " "), "wc"); is != c.reads {
			t.Errorf("%s: readers: %q", c.script, readers)
		}
	}
}

func TestLoadersCacheIsReadByTheLoaderForItsProgram(t *testing.T) {
	const cache = "/etc/ld.so.cache"
	dir := folder(t)
	if readers := sh(t, dir, "wc -c "+cache).readers(cache); len(readers) != 1 || readers[0] != "wc" {
		t.Errorf("readers: %q", readers)
	}
}
