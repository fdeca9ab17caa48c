// Whether the limit on the size of files leaves room for a report.

package observe

import (
	"errors"

	"golang.org/x/sys/unix"
)

// reportRoom is more than a report takes. A compile with 40 folders of headers takes 227 KB,
// and the content of files that have just changed is added.
const reportRoom = 64 << 20

// errNoRoom is returned by Start for a worker whose report might not be written.
var errNoRoom = errors.New("observe: files may not be so large as a report (ulimit -f)")

// errLimited is returned by Become.
var errLimited = errors.New("observe: output goes by way of a file, and files have a largest size (ulimit -f)")

// hasRoom reports whether a file may be as large as a report. ulimit -f holds for files in
// memory too. A process that writes beyond it is killed: the host with its request, or the
// tracer and with it the command.
func hasRoom() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur >= reportRoom || !checksRoom
}

// isUnlimited reports whether files may have any size. An observed command prints to a file in
// memory. Unobserved it prints to a pipe or a terminal, which have no limit. So under ulimit -f
// observation could kill a command for its output.
func isUnlimited() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur == unix.RLIM_INFINITY || !checksRoom
}
