// The version of the machine's C library.

package cli

import "testing"

func TestVersionOfTheCLibraryIsWhatItSaysOfItself(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\x7fELF\nGNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version 2.36.\nCopyright", "2.36"},
		{"GNU C Library development release version 2.43.9000, by Roland\n", "2.43"},
		{"GNU C Library, of no version that is one, version 3.1", "3.1"},
		{"a version 2.36\nGNU C Library\n version 2.35", ""},
		{"musl libc version 1.2.5", ""},
	} {
		if got := glibcOf([]byte(c.text)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
