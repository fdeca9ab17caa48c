// A loaded library is found in maps whose lines may be of any length.

package dl

import (
	"strings"
	"testing"
)

func TestImageIsFoundBehindALineOfAnyLength(t *testing.T) {
	const wanted = "7f0000001000-7f0000002000 r--p 00000000 fe:00 7                          /lib/libnvrtc.so.12"
	for _, size := range []int{0, 1 << 12, 1<<16 - 1, 1 << 16, 1 << 20} {
		before := "00400000-00401000 r--p 00000000 fe:00 6                          /" + strings.Repeat("x", size) + "\n"
		for _, end := range []string{"", "\n", "\n7f0000003000-7f0000004000 r--p 00000000 00:00 0\n"} {
			if path, ok := mapped(strings.NewReader(before+wanted+end), 0x7f0000001000); !ok || path != "/lib/libnvrtc.so.12" {
				t.Errorf("behind %d bytes: %q, %v", size, path, ok)
			}
		}
	}
	for _, none := range []string{"", "\n", wanted + " (deleted)", strings.Replace(wanted, "7f0000001000", "7f0000000000", 1), strings.Split(wanted, " /")[0]} {
		if path, ok := mapped(strings.NewReader(none), 0x7f0000001000); ok {
			t.Errorf("%q: %q", none, path)
		}
	}
}
