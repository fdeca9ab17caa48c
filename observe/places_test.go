// The CPUs that a process may run on are its own.

package observe

import "testing"

// places plays a scene of tests/observe/c/places.c.
func places(t *testing.T, scene string, uses ...Use) {
	t.Helper()
	play(t, "places", scene, func(string) {}, func(t *testing.T, _ string, r *Report) {
		t.Helper()
		r.uses(t, uses...)
	})
}

// The tracer keeps the tree on one CPU for a while. Nobody sees that, or has other CPUs for it.
//
//jitcache:control JO_CONTROL_PLACES
func TestCPUsThatAProcessSetsAreLeftToIt(t *testing.T) { places(t, "sets_its_cpus") }

func TestWhoAsksForItsCPUsSeesAllOfThem(t *testing.T) {
	for range 5 {
		places(t, "asks_for_its_cpus")
	}
	places(t, "reads_its_cpus")
}

func TestWhoAsksForItsCPUsElsewhereSeesAllOfThem(t *testing.T) {
	asRoot(t)
	places(t, "reads_its_cpus_elsewhere", UseNamespace)
}
