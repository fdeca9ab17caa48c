// For how long the times of an image are trusted.

package stamp

import "testing"

//jitcache:control noimages
func TestTimeThatAnImageHasIsTrustedForOneBoot(t *testing.T) {
	v := vouch{made: mounts.ofBoot(7)}
	if id := v.of(5e9); id == 0 || id == NoMount {
		t.Errorf("whole seconds: %d", id)
	}
	if id := v.of(5e9 + 1); id != 0 {
		t.Errorf("nanoseconds: %d", id)
	}
}
