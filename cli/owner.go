// The owner and the mode of a file.

package cli

import "syscall"

// ownerOf returns the owner and the permission bits of a file.
func ownerOf(path string) (uid int, mode uint32, ok bool) {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return 0, 0, false
	}
	return int(st.Uid), st.Mode & 0o7777, true
}
