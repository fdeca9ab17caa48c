// The settings of the environment, the user and the machine, and who may have written their files.

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

// Machine is the folder of the machine's settings. Tests set another one.
var Machine = "/etc/jitcache"

// Names are the settings, each with its environment variable and its meaning.
var Names = []struct{ Name, Variable, Meaning string }{
	{"layers", "JITCACHE_LAYERS", "directories that lookups go on to, with : between"},
	{"remotes", "JITCACHE_REMOTE", "caches of other machines, URLs with blanks between"},
	{"namespace", "JITCACHE_NAMESPACE", "project or tenant that signatures are for"},
	{"signing-key-file", "JITCACHE_SIGNING_KEY_FILE", "the key that signs what is stored"},
	{"unsigned", "JITCACHE_UNSIGNED", "1: bundles need no signatures"},
}

// Setting is a value for one of Names.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"` // a variable, or the path of a file
}

// Settings are the settings of the environment, the user and the machine.
type Settings struct {
	// All are in order of precedence: of those with the same name the first one counts.
	All []Setting
	// Problems has a line for each thing that is ignored, with the reason.
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

// Read reads the settings of the environment, and those of the file config in each folder.
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
			s.parseSettings(string(text), path)
		case !isMissing(err):
			s.Problems = append(s.Problems, fmt.Sprintf("%s is ignored: %v", path, err))
		}
	}
	return s
}

// parseSettings reads lines of "name = value". It skips empty lines, and those that begin with #.
// Lines may have any length, so that no later line is lost.
func (s *Settings) parseSettings(text, path string) {
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

// Get returns the setting with a name that counts; ok is false if it is not set.
func (s *Settings) Get(name string) (set Setting, ok bool) {
	if i := slices.IndexFunc(s.All, func(set Setting) bool { return set.Name == name }); i >= 0 {
		return s.All[i], true
	}
	return Setting{}, false
}

// most bounds the size of a file of settings.
const most = 1 << 20

// ReadFile reads a file of settings. It fails if anybody but this user and root may write
// the file or its folder.
func ReadFile(path string) ([]byte, error) {
	// Most users have no such file, and a stat costs less than an open that fails.
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

// ownOrRoots returns an error if anybody but this user and root may have written a file.
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

// others is the error for a file that belongs to another user, or is in a folder that this
// user may not read, for example because HOME is another user's. Such a file does not
// count.
type others struct{ why string }

func (o *others) Error() string { return o.why }

func isOthers(err error) bool {
	var o *others
	return errors.As(err, &o)
}

// isMissing reports whether a file does not exist. ENOTDIR: the home may be /dev/null.
func isMissing(err error) bool { return err == syscall.ENOENT || err == syscall.ENOTDIR }

// bare takes the path out of an error, which the caller adds.
func bare(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
