package stamp

import "testing"

func TestTimeThatAnImageHasIsTrustedForOneBoot(t *testing.T) {
	var s Status
	s.Stamp = Stamp{Ctime: 5e9, Mtime: 5e9}
	if id := identify(&s.Stamp); id == 0 || id == NoMount {
		t.Errorf("whole seconds: %d", id)
	}
	s.Stamp.Ctime++
	if id := identify(&s.Stamp); id != 0 {
		t.Errorf("nanoseconds: %d", id)
	}
}
