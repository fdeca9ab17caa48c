// The number of the system call fstatat on aarch64.

package store

import "golang.org/x/sys/unix"

const sysFstatat = unix.SYS_FSTATAT
