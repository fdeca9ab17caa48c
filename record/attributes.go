// Extended attributes and flags of files, and the options of mounts.

package record

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Extended attributes and flags of files: what a file has beside content and stat. The
// tracer computes the same values (tracer/attributes.h).

const (
	attributeNames = 65536      // linux/limits.h: XATTR_LIST_MAX
	settableFlags  = 0x000380ff // linux/fs.h: FS_FL_USER_MODIFIABLE; the file system sets the others
)

// attributes returns 0 for a file without extended attributes, else a digest of their names.
func attributes(path string) uint32 {
	n, _ := unix.Listxattr(path, nil)
	if n <= 0 {
		return 0
	}
	all := make([]byte, attributeNames)
	n, _ = unix.Listxattr(path, all)
	var names []byte
	for name := range strings.SplitAfterSeq(string(all[:max(n, 0)]), "\x00") {
		if name != "security.selinux\x00" {
			names = append(names, name...)
		}
	}
	if len(names) == 0 {
		return 0
	}
	return hashed(names) | 1
}

// hashed is FNV-1a.
func hashed(data []byte) uint32 {
	sum := uint32(2166136261)
	for _, c := range data {
		sum = (sum ^ uint32(c)) * 16777619
	}
	return sum
}

// mountedAs returns how the file system of a path is mounted.
func mountedAs(path string) uint32 {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return 0
	}
	return uint32(st.Flags) & (unix.ST_RDONLY | unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC)
}

// flagsOf returns the flags of a file or folder that a user may set (chattr).
func flagsOf(path string) uint32 {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		errno, _ := err.(unix.Errno)
		return uint32(errno) << 24
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return 0 // a file system without flags
	}
	return uint32(flags) & settableFlags
}
