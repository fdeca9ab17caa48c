// Open: makes or reads a cache directory, and decides whether and how it is used.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	atCwd        = unix.AT_FDCWD
	versionText  = "jitcache 1\n"
	cachedirTag  = "Signature: 8a477f597d28d172789f06886806bc55\n# This directory holds a compile cache (jitcache). Backups may leave it out.\n# See https://bford.info/cachedir/\n"
	readmeText   = "This directory holds a compile cache made by jitcache: results of compilers that\nran inside programs. It may be removed at any time; what is missing is compiled\nagain. To see what is here: jitcache ls, jitcache stats. To empty it: jitcache clear\n"
	privateDir   = 0o700
	versionLimit = 64
	mostConfig   = 64 << 10
)

// Open opens a cache directory, and makes it if it does not exist. For a directory that
// cannot or must not be used the error is a *Refused.
//
// The cost does not depend on the number of entries: four files and a folder are opened.
func Open(o Options) (*Store, error) {
	s := &Store{options: o, trust: o.Trust, now: func() int64 { return time.Now().UnixNano() }}
	s.trust.euid = uint32(os.Geteuid())
	fd, err := openRoot(o.Directory, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer closeFd(fd)
	if err := s.examine(fd); err != nil {
		return nil, err
	}
	fresh, err := s.readLayout()
	if err != nil {
		return nil, err
	}
	if err := s.decideWriting(fresh); err != nil {
		return nil, err
	}
	if fresh {
		if s.refuse != None {
			return nil, &Refused{s.refuse, s.root, "it is empty and cannot be written (" + s.refuse.String() + ")", ""}
		}
		if err := s.makeLayout(); err != nil {
			return nil, &Refused{reasonOfErr(err), s.root, "it cannot be set up: " + err.Error(), ""}
		}
	}
	if err := s.applyMaxSize(fresh); err != nil {
		return nil, err
	}
	s.pending.init(s)
	return s, nil
}

// openRoot opens the directory with O_PATH. If it is missing, it makes a private one.
func openRoot(dir string, readOnly bool) (int, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY
	fd, e := openat(atCwd, dir, flags, 0)
	if e == unix.ENOENT && !readOnly {
		if err := os.MkdirAll(dir, privateDir); err != nil {
			return -1, &Refused{NoDirectory, dir, "it cannot be made: " + bare(err), ""}
		}
		fd, e = openat(atCwd, dir, flags, 0)
	}
	switch e {
	case 0:
		return fd, nil
	case unix.ENOENT:
		return -1, &Refused{NoDirectory, dir, "it does not exist", ""}
	case unix.ENOTDIR:
		return -1, &Refused{NotRegular, dir, "it is not a directory", ""}
	}
	return -1, &Refused{reasonOf(e), dir, e.Error(), ""}
}

// bare returns the system's text of an error, without the path.
func bare(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// examine resolves the root's path, and decides whether to trust it.
func (s *Store) examine(fd int) error {
	var st syscall.Stat_t
	if e := fstat(fd, &st); e != 0 {
		return &Refused{reasonOf(e), s.options.Directory, e.Error(), ""}
	}
	s.root = resolve(fd, s.options.Directory)
	s.v1 = s.root + "/v1"
	s.entries = s.v1 + "/entries/"
	if r := s.trust.checkRoot(s.root, &st); r != nil {
		return r
	}
	s.dirMode = st.Mode & 0o2777
	s.mode = st.Mode & 0o666
	s.mount = mountOf(fd, s.options.FileSystem)
	return nil
}

// resolve returns the path without symbolic links of an open directory.
func resolve(fd int, dir string) string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf)
	if err == nil && n > 0 && n < len(buf) && buf[0] == '/' {
		return strings.TrimSuffix(string(buf[:n]), "/")
	}
	if abs, err := filepath.Abs(dir); err == nil { // no /proc
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return strings.TrimSuffix(dir, "/")
}

// readLayout reads VERSION and config. fresh says that the directory has no cache yet.
func (s *Store) readLayout() (fresh bool, err error) {
	version, e := s.readSmall("VERSION", versionLimit)
	switch {
	case e == unix.ENOENT, e == 0 && len(version) == 0:
		s.config = Config{MaxSize: DefaultMaxSize, Shared: s.trust.Shared}
		return true, nil
	case e != 0:
		return false, &Refused{reasonOf(e), s.root, "v1/VERSION: " + e.Error(), ""}
	case string(version) != versionText:
		return false, &Refused{NewerFormat, s.root, fmt.Sprintf("its format is %.40q, this is %q", version, versionText), ""}
	}
	s.config, err = s.readConfig(Config{MaxSize: DefaultMaxSize})
	return false, err
}

// decideWriting finds out whether puts can work at all, so that a cache in a read-only
// image is read without warnings.
func (s *Store) decideWriting(fresh bool) error {
	open := s.openDirBelow
	if fresh {
		open = s.openFolder
	}
	dir, e := open("")
	if e != 0 {
		return &Refused{reasonOf(e), s.root, e.Error(), ""}
	}
	defer closeFd(dir)
	can := !s.mount.ReadOnly && unix.Faccessat(dir, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
	if s.options.ReadOnly || checkWritable && !can {
		s.refuse = ReadOnly
	}
	return nil
}

// makeLayout makes the folders and files of a new cache; VERSION comes last.
func (s *Store) makeLayout() error {
	root, e := s.openFolder("")
	if e != 0 {
		return asError("open", s.root, e)
	}
	defer closeFd(root)
	if e := s.makeDir(root, "v1"); e != 0 {
		return asError("mkdir", s.v1, e)
	}
	v1, e := s.openDirBelow("")
	if e != 0 {
		return asError("open", s.v1, e)
	}
	defer closeFd(v1)
	for _, name := range []string{"entries", "names", "locks", "open", "tmp"} {
		if e := s.makeDir(v1, name); e != 0 {
			return asError("mkdir", s.v1+"/"+name, e)
		}
	}
	for _, f := range []struct {
		dir        int
		name, text string
	}{
		{root, "CACHEDIR.TAG", cachedirTag},
		{root, "README.txt", readmeText},
		{v1, "config", string(s.config.encode())},
		{v1, "ledger", string(new(ledger).encode())},
		{v1, "VERSION", versionText},
	} {
		if e := s.makeFile(f.dir, f.name, []byte(f.text)); e != 0 {
			return asError("create", f.name, e)
		}
	}
	return nil
}

// makeFile makes a file of the layout by a link, because another process may be opening
// the cache. It keeps an existing file, unless that is empty, as after a power cut.
func (s *Store) makeFile(dir int, name string, data []byte) syscall.Errno {
	tmp, e := s.openDirBelow("tmp")
	if e != 0 {
		return e
	}
	defer closeFd(tmp)
	temp := s.tempName()
	if e := s.writeNew(tmp, temp, data); e != 0 {
		return e
	}
	e = linkat(tmp, temp, dir, name)
	if e != 0 {
		var st unix.Stat_t
		if fstatat(dir, name, &st) == 0 && st.Size > 0 {
			e = 0
		} else if e = renameat(tmp, temp, dir, name); e == 0 { // empty, or no links here
			return 0
		}
	}
	unlinkat(tmp, temp, 0)
	return e
}

// applyMaxSize gives the directory the cap that the caller asks for.
func (s *Store) applyMaxSize(fresh bool) error {
	found := s.config.MaxSize
	if s.refuse != None || !s.changesCap(found, fresh) {
		return nil
	}
	err := s.Configure(func(c *Config) {
		// Another process may have set one meanwhile.
		if s.changesCap(c.MaxSize, fresh && c.MaxSize == found) {
			c.MaxSize = *s.options.MaxSize
		}
	})
	var refused *Refused
	switch {
	case errors.As(err, &refused): // the settings cannot be read
		return refused
	case err != nil:
		return &Refused{reasonOfErr(err), s.root, "its cap cannot be set: " + err.Error(), ""}
	}
	return nil
}

// changesCap reports whether the caller asks for another cap than the directory has. fresh
// says that nobody has chosen that one.
func (s *Store) changesCap(has int64, fresh bool) bool {
	want := s.options.MaxSize
	if want == nil || *want == has {
		return false
	}
	return !s.options.Raise || fresh || has != 0 && (*want == 0 || *want > has)
}
