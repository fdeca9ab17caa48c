// Questions about the descriptors that a command was given.

package observe

import (
	"slices"
	"strings"
	"testing"
)

// Whether something is asked about what the command was given, and how often, is told; what it has opened itself is its own.
//
//jitcache:control JO_CONTROL_QUESTIONS
func TestQuestionsAboutStandardInputAreTold(t *testing.T) {
	dir := folder(t)
	put(t, dir+"/f", "")
	for script, want := range map[string]string{
		"test -t 0":         "terminal 1",
		"test -p /dev/fd/0": "use",
		"cat":               "use",
		"/bin/true":         "",
	} {
		r := sh(t, dir, script+" || true")
		var said []string
		for _, u := range r.Uses {
			if u.Use == UseStdin {
				said = append(said, u.Detail)
			}
		}
		if found := slices.ContainsFunc(said, func(d string) bool { return want != "" && strings.HasPrefix(d, want) }); found != (want != "") || want == "" && len(said) != 0 {
			t.Errorf("%s: %q", script, said)
		}
	}
}
