// How Python's imports are recognised.

package observe

import (
	"os/exec"
	"strings"
	"testing"
)

//jitcache:control JO_CONTROL_IMPORTS
func TestWhoImportsAModuleHasNotAskedForItsTime(t *testing.T) {
	said, err := exec.Command("python3", "-c", "import os, sys; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		t.Skip(err)
	}
	dir := folder(t)
	put(t, dir+"/m.py", "x = 1\n")
	for script, asks := range map[string][2]bool{
		"import m": {false, false},
		"import os, m; os.path.realpath(m.__file__)":   {false, false},
		"import os, m; os.path.getmtime(m.__file__)":   {false, true},
		"import os, m; os.path.getmtime(__file__)":     {true, false},
		"import os, m; open(__file__); open(__file__)": {true, false},
	} {
		put(t, dir+"/s.py", script+"\n")
		r := observe(t, dir, strings.TrimSpace(string(said)), "-B", "s.py")
		if r.Status != 0 {
			t.Fatalf("%s: %s", script, r.Err)
		}
		for i, name := range []string{"s.py", "m.py"} {
			if n := r.named(dir + "/" + name); n == nil || (n.Asked != 0) != asks[i] {
				t.Errorf("%s: %s: %+v", script, name, n)
			}
		}
	}
}
