// Command loopback shows a folder through FUSE and misbehaves as flags say, the
// way network file systems do: it has no locks, loses handles, reads less than was
// asked for, shows new names late, refuses renames, fails large writes.
//
//	loopback [flags] FOLDER MOUNTPOINT
//
// It says "mounted" when it is, and adds a line to the log for every fault.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

var (
	lock   = flag.Int("lock", 0, "the error number of every lock")
	stale  = flag.Int64("stale", 0, "every so many reads give ESTALE")
	short  = flag.Int("short", 0, "reads give so many bytes at most")
	late   = flag.Duration("late", 0, "how long a renamed file's new name is unknown")
	rename = flag.Int("rename", 0, "the error number of every rename")
	large  = flag.Int64("large", 0, "writes beyond so many bytes give EIO")
	keep   = flag.Duration("keep", 0, "for how long names, absent ones too, and attributes are not asked for again")
	log    = flag.String("log", "", "file that gets a line per fault")
)

// faulted notes that a fault was given out.
func faulted(what string) {
	f, err := os.OpenFile(*log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		fmt.Fprintln(f, what)
		f.Close()
	}
}

// fresh holds when names have come into being by a rename.
var fresh sync.Map

type node struct {
	fs.LoopbackNode
}

func (n *node) backing(name string) string { return filepath.Join(n.Path(nil), name) }

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if at, ok := fresh.Load(n.backing(name)); ok && time.Since(at.(time.Time)) < *late {
		faulted("late")
		return nil, syscall.ENOENT
	}
	return n.LoopbackNode.Lookup(ctx, name, out)
}

func (n *node) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, to string, flags uint32) syscall.Errno {
	if *rename != 0 {
		faulted("rename")
		return syscall.Errno(*rename)
	}
	e := n.LoopbackNode.Rename(ctx, name, parent, to, flags)
	if *late > 0 && e == 0 {
		fresh.Store(filepath.Join(parent.EmbeddedInode().Path(nil), to), time.Now())
	}
	return e
}

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, more, e := n.LoopbackNode.Open(ctx, flags)
	if *short > 0 {
		more |= fuse.FOPEN_DIRECT_IO // else the kernel takes a short read for the end of the file
	}
	return wrap(h), more, e
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	i, h, more, e := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	return i, wrap(h), more, e
}

type file struct {
	*fs.LoopbackFile
}

func wrap(h fs.FileHandle) fs.FileHandle {
	if f, ok := h.(*fs.LoopbackFile); ok {
		return &file{f}
	}
	return h
}

// PassthroughFd keeps the kernel from reading the file by itself.
func (f *file) PassthroughFd() (int, bool) { return -1, false }

var reads atomic.Int64

func (f *file) Read(ctx context.Context, p []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if *stale > 0 && reads.Add(1)%*stale == 0 {
		faulted("stale")
		return nil, syscall.ESTALE
	}
	if *short > 0 && len(p) > *short {
		faulted("short")
		p = p[:*short]
	}
	return f.LoopbackFile.Read(ctx, p, off)
}

func (f *file) Write(ctx context.Context, p []byte, off int64) (uint32, syscall.Errno) {
	if *large > 0 && off+int64(len(p)) > *large {
		faulted("large")
		return 0, syscall.EIO
	}
	return f.LoopbackFile.Write(ctx, p, off)
}

func (f *file) Setlk(ctx context.Context, owner uint64, lk *fuse.FileLock, flags uint32) syscall.Errno {
	if *lock != 0 {
		faulted("lock")
		return syscall.Errno(*lock)
	}
	return f.LoopbackFile.Setlk(ctx, owner, lk, flags)
}

func main() {
	flag.Parse()
	var st syscall.Stat_t
	if err := syscall.Stat(flag.Arg(0), &st); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	root := &fs.LoopbackRoot{Path: flag.Arg(0), Dev: uint64(st.Dev)}
	root.NewNode = func(data *fs.LoopbackRoot, _ *fs.Inode, _ string, _ *syscall.Stat_t) fs.InodeEmbedder {
		return &node{fs.LoopbackNode{RootData: data}}
	}
	top := &node{fs.LoopbackNode{RootData: root}}
	root.RootNode = top
	// At zero every name is asked for anew.
	server, err := fs.Mount(flag.Arg(1), top, &fs.Options{
		EntryTimeout: keep, AttrTimeout: keep, NegativeTimeout: keep,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, EnableLocks: true, FsName: "loopback", AllowOther: true},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("mounted")
	server.Wait()
}
