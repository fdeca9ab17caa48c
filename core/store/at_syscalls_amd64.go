// The number of the system call fstatat on x86_64.

package store

import "golang.org/x/sys/unix"

const sysFstatat = unix.SYS_NEWFSTATAT
