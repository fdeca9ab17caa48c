//go:build !control_follow

package store

import "golang.org/x/sys/unix"

// refuseLinks is what openat2 is told of symbolic links below the root. A control
// build of the tests follows them.
const refuseLinks = unix.RESOLVE_NO_SYMLINKS
