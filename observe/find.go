// Where the tracer's program is.

package observe

import (
	"bytes"
	"os"
	"path/filepath"
)

// TracerName is the name of the tracer's program.
const TracerName = "jitcache-observe"

// protocol is a text that the matching tracer contains. Another version may be installed
// beside it, for another Python.
const protocol = "jitcache-observe: requests 2"

// Find returns the path of the tracer for one of jitcache's programs: beside the program, or
// beside the library that was installed with it; "" if there is none.
func Find(executable string) string {
	folder := filepath.Dir(executable)
	places := []string{
		folder + "/" + TracerName,                     // by hand
		folder + "/../lib/" + TracerName,              // as it is built
		folder + "/../libexec/jitcache/" + TracerName, // make install
		folder + "/../jitcache/" + TracerName,         // pip install --target
	}
	for _, place := range places {
		if isTracer(place) {
			return place
		}
	}
	// pip install: the folder of packages has a version in its name.
	for _, packages := range []string{"lib/python*/site-packages", "lib/python*/dist-packages", "lib64/python*/site-packages"} {
		found, _ := filepath.Glob(folder + "/../" + packages + "/jitcache/" + TracerName)
		for _, place := range found {
			if isTracer(place) {
				return place
			}
		}
	}
	return ""
}

func isTracer(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && bytes.Contains(data, []byte(protocol))
}
