package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Machine is the folder of the machine's settings. Tests have another.
var Machine = "/etc/jitcache"

// Names are the settings, with the environment variable that says the same and what
// they mean.
var Names = []struct{ Name, Variable, Meaning string }{
	{"layers", "JITCACHE_LAYERS", "directories that lookups go on to, with : between"},
	{"remotes", "JITCACHE_REMOTE", "caches of other machines, URLs with blanks between"},
	{"namespace", "JITCACHE_NAMESPACE", "project or tenant that signatures are for"},
	{"signing-key-file", "JITCACHE_SIGNING_KEY_FILE", "the key that signs what is stored"},
	{"unsigned", "JITCACHE_UNSIGNED", "1: bundles need no signatures"},
}

// Setting is one of Names, as somebody has set it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // a variable, or the path of a file
}

// Settings are what environment, user and machine have set.
type Settings struct {
	// All are in the order in which they count: of those of one name the first one does.
	All []Setting
	// Problems say in a line each what is ignored, and why.
	Problems []string
}

// Folders returns the folders of settings, the user's first. home is the user's home
// directory, "" if there is none.
func Folders(env func(string) string, home string) []string {
	switch d := env("XDG_CONFIG_HOME"); {
	case filepath.IsAbs(d):
		return []string{filepath.Join(d, "jitcache"), Machine}
	case filepath.IsAbs(home):
		return []string{filepath.Join(home, ".config", "jitcache"), Machine}
	}
	return []string{Machine}
}

// Read reads the settings: of the environment, and of the file config in each folder.
func Read(env func(string) string, folders []string) *Settings {
	s := &Settings{}
	for _, n := range Names {
		if v := env(n.Variable); v != "" {
			s.All = append(s.All, Setting{n.Name, v, n.Variable})
		}
	}
	for _, folder := range folders {
		path := folder + "/config"
		text, err := ReadFile(path)
		switch {
		case err == nil:
			s.parse(string(text), path)
		case !isMissing(err):
			s.Problems = append(s.Problems, fmt.Sprintf("%s is ignored: %v", path, err))
		}
	}
	return s
}

// parse reads lines of "name = value". Empty lines, and those that begin with #, say
// nothing. A line is as long as it is: of what comes after it nothing must be lost.
func (s *Settings) parse(text, path string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || !isName(name) {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: there is no setting %.60q", path, name))
			continue
		}
		s.All = append(s.All, Setting{name, strings.TrimSpace(value), path})
	}
}

func isName(name string) bool {
	for _, n := range Names {
		if n.Name == name {
			return true
		}
	}
	return false
}

// Get returns the setting of a name that counts; ok is false if nobody has set it.
func (s *Settings) Get(name string) (set Setting, ok bool) {
	if i := slices.IndexFunc(s.All, func(set Setting) bool { return set.Name == name }); i >= 0 {
		return s.All[i], true
	}
	return Setting{}, false
}

// most is how large a file of settings may be.
const most = 1 << 20

// ReadFile reads a file of settings. Neither it nor its folder may be such that somebody
// else than this user and root can write it.
func ReadFile(path string) ([]byte, error) {
	// Most users have none: a look costs each open of a cache less than an open in vain.
	if _, err := os.Stat(path); err != nil {
		if err := bare(err); err != syscall.EACCES {
			return nil, err
		}
		return nil, &others{syscall.EACCES.Error()}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file")
	}
	if err := ownOrRoots(info, "it"); err != nil {
		return nil, err
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, bare(err)
	}
	if err := ownOrRoots(folder, "its folder"); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	return text, bare(err)
}

// ownOrRoots says why somebody else could have written what info is of.
func ownOrRoots(info os.FileInfo, what string) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !checkOwner:
	case !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return &others{fmt.Sprintf("%s belongs to user %d", what, st.Uid)}
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write %s (mode %04o); to use it: chmod go-w", what, info.Mode().Perm())
	}
	return nil
}

// others is the error of a file that is somebody else's, or in a folder that this user may
// not look into: HOME is another user's, say. It has no say here.
type others struct{ why string }

func (o *others) Error() string { return o.why }

func isOthers(err error) bool {
	var o *others
	return errors.As(err, &o)
}

// isMissing reports whether a file is not there; a home may be /dev/null.
func isMissing(err error) bool { return err == syscall.ENOENT || err == syscall.ENOTDIR }

// bare takes the path out of an error, which the caller adds.
func bare(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
