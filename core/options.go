// Options and environment variables, read and checked when a cache is opened.

package core

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jitcache/core/memory"
	"jitcache/core/remote"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Options says what to open. The zero value opens the default directory.
type Options struct {
	// Values are the options by name, as text; see OptionNames. A bad value is
	// an error of Open.
	Values map[string]string
	// Env reads the environment; nil is an empty one. libjitcache passes the host's
	// present environment, which Go itself would not see.
	Env func(name string) string
	// Sink receives warnings; it may be nil.
	Sink Sink
	// Memory is the in-process tier to keep using, for a cache that is opened
	// again in a forked child; nil makes a new one.
	Memory *memory.Memory
	// Local uses no remotes, for a caller that only looks at a directory.
	Local bool
	// Launcher is for a process that becomes a command, one of many in a build. It waits
	// for one other machine that runs its command, but not for a second, because the files
	// there may differ (Cache.Claim). It takes part in no profile. It waits at its end only
	// if the user has set the time.
	Launcher bool
}

// OptionNames are the names that Options.Values may have, with their meanings.
var OptionNames = map[string]string{
	"directory":   "where entries are kept; default $JITCACHE_DIR, else $XDG_CACHE_HOME/jitcache, else ~/.cache/jitcache",
	"max_size":    "cap of the directory: bytes, or 5G, 5Gi; 0 unlimited",
	"memory_size": "cap of the in-process tier, as max_size; 0 none",
	"durable":     "1: fsync what is stored",
	"shared":      "1: trust everybody who may write the directory",
	"readonly":    "1: store nothing",
	"trust":       "ids of other users whose entries are used, separated by commas",
	"lock_dir":    "where lock files go, if not in the directory",
	"file_system": "local or network, where statfs is wrong",
}

// Variables are the environment variables that jitcache reads, with their meanings.
// The launcher, package cuda and Python read the last ones.
var Variables = []struct{ Name, Meaning string }{
	{"JITCACHE", "on, 0, readonly, refresh"},
	{"JITCACHE_DIR", "the directory"},
	{"JITCACHE_SIZE", "cap for the puts of this process"},
	{"JITCACHE_MEMORY", "cap of the in-process tier"},
	{"JITCACHE_LOG", "miss or debug: what is logged"},
	{"JITCACHE_LOG_FILE", "where, if not to standard error; %p is the process, %h the host"},
	{"JITCACHE_SHARED", "1: trust everybody who may write the directory"},
	{"JITCACHE_TRUST", "ids of other users whose entries are used"},
	{"JITCACHE_LAYERS", "directories that lookups go on to, with : between"},
	{"JITCACHE_REMOTE", "caches of other machines that lookups go on to, URLs with blanks between"},
	{"JITCACHE_KEYS", "keys of signatures that are trusted, with commas between"},
	{"JITCACHE_NAMESPACE", "project or tenant that signatures are for"},
	{"JITCACHE_SIGNING_KEY_FILE", "the key that signs what is stored"},
	{"JITCACHE_UNSIGNED", "1: bundles need no signatures"},
	{"JITCACHE_LOCK_DIR", "where lock files go"},
	{"JITCACHE_FS", "local or network, where statfs is wrong"},
	{"JITCACHE_REMOTE_WAIT", "how long another machine's compile is waited for; 10m"},
	{"JITCACHE_REMOTE_EXIT_WAIT", "how long a process that ends waits for what it stored to be sent; 10s in containers and Slurm, else 0"},
	{"JITCACHE_PROFILE", "name of a job: what it used is fetched when it starts again"},
	{"JITCACHE_STORAGE", "path of jitcache-storage"},
	{"JITCACHE_BASE_DIR", "launched commands: a folder whose own name means nothing"},
	{"JITCACHE_PLACEHOLDER", "launched commands: names for paths that differ in each run, NAME=PATH with : between"},
	{"JITCACHE_MAP", "launched commands: option that keeps these names out of outputs"},
	{"JITCACHE_WITHHOLD", "launched commands: variables that they are not given, patterns with : between"},
	{"JITCACHE_KEEP", "launched commands: programs whose results are kept, patterns with : between; all"},
	{"JITCACHE_HERMETIC", "launched commands: the second that they are shown as all times, 1: that of SOURCE_DATE_EPOCH"},
	{"JITCACHE_RUN_JSON", "launched commands: file for a line about each, - for standard error"},
	{"JITCACHE_NUMBA", "everything, cached or verify: what Numba compiles is kept"},
	{"JITCACHE_TORCH", "1: what PyTorch compiles is kept"},
	{"JITCACHE_NVRTC", "path of libnvrtc"},
	{"JITCACHE_LIBCUDA", "path of libcuda"},
	{"JITCACHE_LIBRARY", "path of libjitcache, for Python"},
}

// DefaultMemorySize is the cap of the in-process tier: 256 MiB, a few hundred
// of the largest modules seen and some two thousand cubins.
const DefaultMemorySize = 256 << 20

// Mode is the value of JITCACHE, which overrides the options.
type Mode int

// The modes.
const (
	On           Mode = iota
	ModeOff           // every lookup misses, nothing is stored
	ModeReadOnly      // nothing is stored
	ModeRefresh       // every lookup misses, and every result replaces the old one
)

// settings are options and environment, read and checked.
type settings struct {
	mode       Mode
	directory  string
	rule       string // which rule chose the directory
	memorySize int64
	store      store.Options
	trust      *trust.Settings
	keys       *trust.Keys
	local      bool
	launcher   bool
	remote     remote.Options
	remoteWait time.Duration
	exitSays   time.Duration // JITCACHE_REMOTE_EXIT_WAIT; -1: not set
	profile    string

	storageProgram func() string
	env            func(name string) string
	log            logger
}

// reader collects the settings. A bad option is an error, a bad variable a
// warning.
type reader struct {
	o        *Options
	s        *settings
	err      error
	problems []string
}

func (o *Options) env(name string) string {
	if o.Env == nil {
		return ""
	}
	return o.Env(name)
}

func (o *Options) readSettings() (*settings, error) {
	r := &reader{o: o, s: &settings{log: logger{sink: o.Sink}, memorySize: DefaultMemorySize}}
	for name := range o.Values {
		if _, ok := OptionNames[name]; !ok {
			return nil, fmt.Errorf("option %q: no such option", name)
		}
	}
	r.readLog()
	r.readMode()
	r.readTrust()
	r.readDirectory()
	r.readSizes()
	st := &r.s.store
	st.Durable = r.flag("durable", "")
	st.ReadOnly = r.flag("readonly", "") || r.s.mode == ModeReadOnly
	st.Trust.Shared = r.flag("shared", "JITCACHE_SHARED")
	st.Trust.Users = r.users("trust", "JITCACHE_TRUST")
	st.LockDir = r.textOf("lock_dir", "JITCACHE_LOCK_DIR")
	st.NodeLockDir = o.nodeLockDir()
	r.s.local = o.Local
	r.s.launcher = o.Launcher
	r.s.exitSays = r.duration("JITCACHE_REMOTE_EXIT_WAIT", -1)
	if r.s.env = o.env; !o.Launcher {
		r.s.profile = o.env("JITCACHE_PROFILE")
	}
	r.s.remoteWait = r.duration("JITCACHE_REMOTE_WAIT", 10*time.Minute)
	r.s.remote = remote.Options{Namespace: r.s.keys.Namespace, Folder: st.NodeLockDir, Env: o.env}
	r.s.storageProgram = o.storageProgram
	st.FileSystem = r.choice("file_system", "JITCACHE_FS", "local", "network")
	for _, p := range r.problems {
		r.s.log.warn("variable "+p, "%s", p)
	}
	return r.s, r.err
}

// textOf returns an option, else a variable.
func (r *reader) textOf(option, variable string) string {
	if v, ok := r.o.Values[option]; ok {
		return v
	}
	if variable == "" {
		return ""
	}
	return r.o.env(variable)
}

// bad reports a value of an option or, if that was not given, of a variable.
func (r *reader) bad(option, variable, want string) {
	if v, ok := r.o.Values[option]; ok {
		if r.err == nil {
			r.err = fmt.Errorf("option %q: value %q: want %s", option, v, want)
		}
		return
	}
	r.problems = append(r.problems, fmt.Sprintf("%s=%q is ignored: want %s", variable, r.o.env(variable), want))
}

func (r *reader) choice(option, variable string, values ...string) string {
	v := r.textOf(option, variable)
	if v == "" {
		return ""
	}
	for _, ok := range values {
		if v == ok {
			return v
		}
	}
	r.bad(option, variable, strings.Join(values, " or "))
	return ""
}

func (r *reader) flag(option, variable string) bool {
	v := r.textOf(option, variable)
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	case "1", "true", "yes", "on":
		return true
	}
	r.bad(option, variable, "1 or 0")
	return false
}

func (r *reader) size(option, variable string) (int64, bool) {
	v := r.textOf(option, variable)
	if v == "" {
		return 0, false
	}
	n, err := store.ParseSize(v)
	if err != nil {
		r.bad(option, variable, "a size such as 500M or 5Gi")
		return 0, false
	}
	return n, true
}

// duration reads a variable that is a time.
func (r *reader) duration(variable string, otherwise time.Duration) time.Duration {
	v := r.o.env(variable)
	if v == "" {
		return otherwise
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		r.bad("", variable, "a time such as 90s or 10m")
		return otherwise
	}
	return d
}

func (r *reader) users(option, variable string) []uint32 {
	var ids []uint32
	for _, f := range strings.FieldsFunc(r.textOf(option, variable), func(c rune) bool { return c == ',' || c == ' ' }) {
		id, err := strconv.ParseUint(f, 10, 32)
		if err != nil {
			r.bad(option, variable, "user ids separated by commas")
			return nil
		}
		ids = append(ids, uint32(id))
	}
	return ids
}

func (r *reader) readLog() {
	switch r.choice("", "JITCACHE_LOG", "miss", "debug") {
	case "miss":
		r.s.log.level = Miss
	case "debug":
		r.s.log.level = Debug
	}
	r.s.log.file = r.o.env("JITCACHE_LOG_FILE")
	if r.s.log.file != "" && r.s.log.level == 0 {
		r.s.log.level = Info
	}
}

func (r *reader) readMode() {
	switch r.choice("", "JITCACHE", "on", "1", "0", "off", "readonly", "refresh") {
	case "0", "off":
		r.s.mode = ModeOff
	case "readonly":
		r.s.mode = ModeReadOnly
	case "refresh":
		r.s.mode = ModeRefresh
	}
}

// SettingsFolders returns the folders with the settings of the user, if there is one, and
// of the machine.
func (o *Options) SettingsFolders() []string { return trust.Folders(o.env, o.home()) }

// readTrust reads the settings that say who else is trusted.
func (r *reader) readTrust() {
	folders := r.o.SettingsFolders()
	r.s.trust = trust.Read(r.o.env, folders)
	namespace, _ := r.s.trust.Get("namespace")
	r.s.keys = trust.ReadKeys(r.o.env, folders, namespace.Value)
	r.problems = append(append(r.problems, r.s.trust.Problems...), r.s.keys.Problems...)
}

func (r *reader) readDirectory() {
	r.s.directory, r.s.rule = r.o.Directory()
	r.s.store.Directory = r.s.directory
}

// Directory returns the directory that the options and the environment choose, and the
// rule that has chosen it; dir is "" if there is none.
func (o *Options) Directory() (dir, rule string) {
	if d := o.Values["directory"]; d != "" {
		return d, "option directory"
	}
	if d := o.env("JITCACHE_DIR"); d != "" {
		return d, "JITCACHE_DIR"
	}
	if d := o.env("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "jitcache"), "XDG_CACHE_HOME"
	}
	if h := o.home(); h != "" {
		return filepath.Join(h, ".cache", "jitcache"), "home directory"
	}
	return "", "no home directory"
}

// storageProgram returns the path of jitcache-storage, the helper for remotes.
func (o *Options) storageProgram() string {
	if p := o.env("JITCACHE_STORAGE"); filepath.IsAbs(p) {
		return p
	}
	return StorageProgram()
}

func (o *Options) home() string {
	if h := o.env("HOME"); filepath.IsAbs(h) {
		return h
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}

// nodeLockDir returns the folder for lock files of a cache on a network file system: one
// of this user's on the node.
func (o *Options) nodeLockDir() string {
	if d := o.env("XDG_RUNTIME_DIR"); filepath.IsAbs(d) {
		return filepath.Join(d, "jitcache")
	}
	tmp := o.env("TMPDIR")
	if !filepath.IsAbs(tmp) {
		tmp = "/tmp"
	}
	return filepath.Join(tmp, fmt.Sprintf("jitcache-%d", euid()))
}

func (r *reader) readSizes() {
	if n, ok := r.size("max_size", ""); ok {
		r.s.store.MaxSize = &n
		_, explicit := r.o.Values["directory"]
		r.s.store.Raise = !explicit
	}
	if n, ok := r.size("", "JITCACHE_SIZE"); ok {
		r.s.store.Size = &n
	}
	if n, ok := r.size("memory_size", "JITCACHE_MEMORY"); ok {
		r.s.memorySize = n
	}
}

func euid() int { return os.Geteuid() }
