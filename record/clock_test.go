// A date of a known program is seen, whatever its C library.

package record

import (
	"os/exec"
	"strings"
	"testing"
)

// dating is known as gcc is, and asks for the date as the C library does that it is built
// with: glibc has a call for that, or the coarse clock; musl asks the clock that it asks for
// everything.
const dating = `
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((used)) static const char marker[] = "COLLECT_GCC";
int main(int n, char **words)
{
	struct timespec t;
	FILE *out = fopen(words[1], "w");
	return out == NULL || syscall(SYS_clock_gettime, CLOCK, &t) != 0 || fclose(out);
}
`

//jitcache:control nolibrary clock_of_others
func TestDateOfAKnownProgramIsSeenWhateverItsCLibraryIs(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	for name, c := range map[string]struct {
		clock, link string
		kept        bool
	}{
		"clock of glibc":  {"CLOCK_REALTIME", "-rdynamic", true},
		"coarse clock":    {"CLOCK_REALTIME_COARSE", "-rdynamic", false},
		"clock of others": {"CLOCK_REALTIME", "-static", false},
		"no date":         {"CLOCK_MONOTONIC", "-static", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("dating.c", dating)
			w.put("bin/.keep", "")
			if _, err := w.run("gcc", "-DCLOCK="+c.clock, c.link, "dating.c", "-o", "bin/gcc"); err != nil {
				t.Fatal(err)
			}
			_, err := w.run(w.dir+"/bin/gcc", "out")
			if (err == nil) != c.kept || err != nil && !strings.Contains(err.Error(), "depends on the time of day") {
				t.Error(err)
			}
		})
	}
}
