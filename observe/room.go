package observe

import (
	"errors"

	"golang.org/x/sys/unix"
)

// reportRoom is more than a report takes: 227 KB for a compile with 40 folders of headers,
// and beside that the content of files that changed a moment ago.
const reportRoom = 64 << 20

// errNoRoom is returned by Start for a worker where a report might not be written.
var errNoRoom = errors.New("observe: files may not be so large as a report (ulimit -f)")

// errLimited is returned by Become.
var errLimited = errors.New("observe: output goes by way of a file, and files have a largest size (ulimit -f)")

// hasRoom reports whether files may be so large. Files in memory are files: who writes beyond
// ulimit -f is killed, be it the host with its request, or the tracer, and with that the command.
func hasRoom() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur >= reportRoom || !checksRoom
}

// isUnlimited reports whether files may be of any size. A command prints to a file in memory, and
// to a pipe or a terminal otherwise, for which there is no limit: under one it might be killed
// for what it could print.
func isUnlimited() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur == unix.RLIM_INFINITY || !checksRoom
}
