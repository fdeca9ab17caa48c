// What kind of file system a directory is on.

package store

import "golang.org/x/sys/unix"

// Mount has the properties of a directory's file system that matter to a cache.
type Mount struct {
	Name     string // "ext4", "nfs", …; "0x…" for one that has no name here
	Network  bool   // several machines may see it: no locks and no recency on it
	NoExec   bool   // dlopen from it is refused
	ReadOnly bool
	Free     int64 // bytes that this user may still write
	Inodes   int64 // files that may still be made; -1 if there is no limit
}

// fileSystems names the types that statfs reports (linux/magic.h, and the
// parallel file systems' own headers). FUSE counts as network: sshfs, gcsfuse
// and the like are, and a local one only loses locks in its own directory.
var fileSystems = map[int64]Mount{
	0xEF53:     {Name: "ext4"},
	0x58465342: {Name: "xfs"},
	0x9123683E: {Name: "btrfs"},
	0x01021994: {Name: "tmpfs"},
	0x794C7630: {Name: "overlay"},
	0x2FC12FC1: {Name: "zfs"},
	0xF2F52010: {Name: "f2fs"},
	0xCA451A4E: {Name: "bcachefs"},
	0x858458F6: {Name: "ramfs"},
	0x4D44:     {Name: "vfat"},
	0x2011BAB0: {Name: "exfat"},
	0x73717368: {Name: "squashfs"},
	0xE0F5E1E2: {Name: "erofs"},
	0x6969:     {Name: "nfs", Network: true},
	0xFF534D42: {Name: "cifs", Network: true},
	0xFE534D42: {Name: "smb2", Network: true},
	0x517B:     {Name: "smb", Network: true},
	0x0BD00BD0: {Name: "lustre", Network: true},
	0x47504653: {Name: "gpfs", Network: true},
	0x19830326: {Name: "beegfs", Network: true},
	0x00C36400: {Name: "ceph", Network: true},
	0x5346414F: {Name: "afs", Network: true},
	0x6B414653: {Name: "kafs", Network: true},
	0x01021997: {Name: "9p", Network: true},
	0x65735546: {Name: "fuse", Network: true},
	0x73757245: {Name: "coda", Network: true},
	0x7461636F: {Name: "ocfs2", Network: true},
	0x01161970: {Name: "gfs2", Network: true},
	0xAAD7AAEA: {Name: "panfs", Network: true},
	0x20030528: {Name: "orangefs", Network: true},
}

// mountOf looks at the file system of an open descriptor. kind is "local" or
// "network" if the user knows better, else "".
func mountOf(fd int, kind string) Mount {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return Mount{Name: "unknown", Network: kind != "local"}
	}
	// The type is a long whose upper half some systems sign-extend.
	m, ok := fileSystems[int64(uint32(st.Type))]
	if !ok {
		m.Name = hex(uint32(st.Type))
	}
	if kind != "" {
		m.Network = kind == "network"
	}
	m.NoExec = st.Flags&unix.ST_NOEXEC != 0
	m.ReadOnly = st.Flags&unix.ST_RDONLY != 0
	m.Free = int64(st.Bavail) * st.Bsize
	m.Inodes = int64(st.Ffree)
	if st.Files == 0 {
		m.Inodes = -1
	}
	return m
}

func hex(v uint32) string {
	const digits = "0123456789abcdef"
	b := []byte("0x")
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&15])
	}
	return string(b)
}
