// jitcache doctor.

package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/lease"
	"jitcache/core/store"
	"jitcache/core/trust"
	"jitcache/cuda/dl"
)

// diagnosis is what doctor finds, as -json prints it.
type diagnosis struct {
	Cached     bool        `json:"cached_on_disk"`
	Directory  string      `json:"directory"`
	Rule       string      `json:"rule"`
	Refused    string      `json:"refused,omitempty"`
	Owner      string      `json:"owner,omitempty"`
	Mode       string      `json:"mode,omitempty"`
	FileSystem string      `json:"file_system,omitempty"`
	Network    bool        `json:"network"`
	Executable bool        `json:"executable"`
	Free       int64       `json:"free_bytes"`
	MaxSize    int64       `json:"max_size"`
	Used       int64       `json:"used_bytes"`
	Entries    int64       `json:"entries"`
	Locks      string      `json:"lock_directory,omitempty"`
	Leases     []leaseRow  `json:"leases"`
	Layers     []layerRow  `json:"layers"`
	Remotes    []remoteRow `json:"remotes"`
	// Settings come from the environment, the user and the machine. The first of a name
	// counts.
	Settings    []trust.Setting `json:"settings"`
	Keys        []trustRow      `json:"keys"`
	LastRefusal string          `json:"last_refusal,omitempty"`
	LastRefused time.Time       `json:"last_refused,omitzero"`
	Version     string          `json:"version"`
	Library     string          `json:"library,omitempty"`
	Go          string          `json:"go,omitempty"`
	GoRuntime   string          `json:"go_runtime,omitempty"`
	GlibcNeed   string          `json:"glibc_needed,omitempty"`
	Glibc       string          `json:"glibc"`
	NVRTC       string          `json:"nvrtc,omitempty"`
	Driver      string          `json:"libcuda,omitempty"`
	Variables   []variable      `json:"variables"`
}

type leaseRow struct {
	Key   string    `json:"key"`
	Name  string    `json:"name,omitempty"`
	Pid   int       `json:"pid"`
	Since time.Time `json:"since"`
}

type layerRow struct {
	Directory string `json:"directory"`
	Source    string `json:"source"` // the variable or file that names it
	Used      bool   `json:"used"`
	Refused   string `json:"refused,omitempty"`
	// Copied says why entries found in it are copied into the directory; empty if they are not.
	Copied string `json:"copied,omitempty"`
}

type variable struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Known   bool   `json:"known"`
	Meaning string `json:"meaning,omitempty"`
}

func (c *command) doctorCommand() *ffcli.Command {
	return c.newCommand("doctor [-json]", "say whether results would be cached, where, and if not, why", nil, 0, 0, func([]string) error {
		d := c.diagnose()
		var err error
		if c.asJSON {
			err = c.printJSON(d)
		} else {
			err = c.printDiagnosis(d)
		}
		if err == nil && !d.Cached {
			return no("nothing would be cached on disk")
		}
		return err
	})
}

func (c *command) diagnose() *diagnosis {
	o := c.options()
	d := &diagnosis{Version: Version, Glibc: glibc(), Leases: []leaseRow{}, Layers: []layerRow{}, Remotes: []remoteRow{}, Variables: []variable{}}
	d.Directory, d.Rule = o.Directory()
	own := c.findLibrary()
	d.Library, d.GlibcNeed = own.path, own.glibcNeed()
	d.Go, d.GoRuntime = own.built()
	d.NVRTC = c.findCUDA(dl.NVRTC, "JITCACHE_NVRTC", d.Library)
	d.Driver = c.findCUDA(dl.CUDA, "JITCACHE_LIBCUDA", d.Library)
	c.lookAtVariables(d)
	o.Env = outsideJob(o.Env)
	warn, early := o.Sink, []func(refused error){}
	o.Sink = func(l core.Level, text string) {
		early = append(early, func(refused error) {
			// The verdict says why the directory is not used. That nothing is kept then
			// is so for this command only, for a program has a memory tier.
			if refused == nil || !strings.HasPrefix(text, refused.Error()) {
				warn(l, text)
			}
		})
	}
	if err := c.checkDirectory(); err != nil {
		d.Refused = err.Error()
		return d
	}
	cache, err := core.Open(o)
	if err != nil {
		d.Refused = err.Error()
		return d
	}
	s, refused := cache.Store()
	for _, l := range cache.Layers() {
		d.Layers = append(d.Layers, layerRow{l.Directory, l.Source, l.Refused == "", l.Refused, l.Copies})
	}
	d.Keys = keyRows(cache.Signers())
	d.Settings = append([]trust.Setting{}, cache.Settings().All...)
	for i, set := range d.Settings {
		if set.Name == "remotes" {
			d.Settings[i].Value = core.ShownRemotes(set.Value)
		}
	}
	d.Remotes = remotes(cache)
	switch {
	case cache.Mode() == core.ModeOff:
		d.Refused = "JITCACHE=0"
	case s == nil:
		d.Refused = refused.Error()
		var r *store.Refused
		if errors.As(refused, &r) {
			d.Directory = r.Path
		}
	default:
		c.lookAtStore(d, s)
	}
	for _, tell := range early {
		tell(refused)
	}
	return d
}

func (c *command) lookAtStore(d *diagnosis, s *store.Store) {
	d.Directory = s.Root()
	d.Cached = s.Refuses() == store.None
	if !d.Cached {
		d.Refused = "not written to: " + s.Refuses().String()
	}
	d.Owner, d.Mode = owner(s.Root())
	m := s.Mount()
	d.FileSystem, d.Network, d.Executable, d.Free = m.Name, m.Network, !m.NoExec, m.Free
	u := s.Usage()
	d.MaxSize, d.Used, d.Entries = s.MaxSize(), u.Bytes, u.Entries
	if u.RefusedAt != 0 {
		d.LastRefusal, d.LastRefused = u.Refused.String(), time.Unix(0, u.RefusedAt)
	}
	d.Locks, _ = s.LockDir()
	d.Leases = liveLeases(s)
}

func owner(path string) (uid, mode string) {
	uidNumber, bits, ok := ownerOf(path)
	if !ok {
		return "", ""
	}
	return strconv.Itoa(uidNumber), fmt.Sprintf("%04o", bits)
}

// liveLeases lists the leases that a process holds.
func liveLeases(s *store.Store) []leaseRow {
	rows := []leaseRow{}
	for _, name := range s.Locks() {
		if name == "ledger" {
			continue
		}
		l, err := s.TryLock(name, nil)
		if l != nil {
			l.Unlock() // idle
			continue
		}
		text, _, rerr := s.ReadLock(name)
		if h, herr := lease.ParseHolder(text); err == nil && rerr == nil && herr == nil {
			rows = append(rows, leaseRow{name, h.Name, h.Pid, h.Since})
		}
	}
	return rows
}

// findCUDA returns the file that would be loaded as a CUDA library, "" if there is none.
func (c *command) findCUDA(w dl.Wanted, variable, library string) string {
	locations := dl.Locations{Explicit: c.env(variable), Wheels: []string{filepath.Dir(filepath.Dir(library))}}
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := c.env(name); home != "" {
			locations.Homes = append(locations.Homes, home)
		}
	}
	file, err := dl.Find(w, locations)
	if err != nil {
		return ""
	}
	return file.Path
}

func (c *command) lookAtVariables(d *diagnosis) {
	names := slices.Clone(c.variables)
	slices.Sort(names)
	for _, name := range names {
		v := variable{Name: name, Value: c.env(name)}
		if name == "JITCACHE_REMOTE" {
			v.Value = core.ShownRemotes(v.Value)
		}
		for _, known := range core.Variables {
			if known.Name == name {
				v.Known, v.Meaning = true, known.Meaning
			}
		}
		d.Variables = append(d.Variables, v)
	}
}

func (c *command) printDiagnosis(d *diagnosis) error {
	var buf bytes.Buffer
	w := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("directory", "%s (%s)", cmp.Or(d.Directory, "none"), d.Rule)
	if d.Refused != "" {
		row("verdict", "%s", d.Refused)
	} else {
		row("verdict", "trusted: results are cached here")
	}
	if d.FileSystem != "" {
		where, exec := "local", "programs may run from it"
		if d.Network {
			where = "network: locks are kept on this machine"
		}
		if !d.Executable {
			exec = "noexec: modules are loaded from copies in the temp directory"
		}
		limit := "unlimited"
		if d.MaxSize > 0 {
			limit = store.FormatSize(d.MaxSize)
		}
		row("owner, mode", "user %s, %s", d.Owner, d.Mode)
		row("file system", "%s (%s), %s free, %s", d.FileSystem, where, store.FormatSize(d.Free), exec)
		row("in use", "%s of %s in %s", store.FormatSize(d.Used), limit, store.FormatEntries(d.Entries))
		row("locks", "%s", d.Locks)
	}
	for _, l := range d.Layers {
		verdict := "trusted: used in place"
		switch {
		case !l.Used:
			verdict = "not used: " + l.Refused
		case l.Copied != "":
			verdict = "entries found are copied: " + l.Copied
		}
		row("layer", "%s (%s): %s", l.Directory, l.Source, verdict)
	}
	for _, r := range d.Remotes {
		row("remote", "%s (%s): %s%s", r.URL, r.Source, r.does(), r.helperText())
	}
	for _, s := range d.Settings {
		row("setting", "%s = %s (%s)", s.Name, s.Value, s.Source)
	}
	for _, k := range d.Keys {
		state := "trusted"
		if k.Withdrawn {
			state = "withdrawn"
		}
		row("key", "%s %s (%s): %s", k.Key, k.Name, k.Source, state)
	}
	for _, l := range d.Leases {
		row("compiling", "%s, process %d, since %s", cmp.Or(line(l.Name), l.Key[:12]), l.Pid, l.Since.Format("15:04:05"))
	}
	if d.LastRefusal != "" {
		row("last refusal", "%s, %s", d.LastRefusal, d.LastRefused.Format("2006-01-02 15:04:05"))
	}
	row("library", "%s, version %s", cmp.Or(d.Library, "not found"), d.Version)
	if d.Library != "" {
		row("go", "%s, %s", cmp.Or(d.Go, "none"), cmp.Or(d.GoRuntime, "this is not libjitcache"))
	}
	row("glibc", "%s, needs %s", cmp.Or(d.Glibc, "none"), cmp.Or(d.GlibcNeed, "none"))
	row("nvrtc", "%s", cmp.Or(d.NVRTC, "not found"))
	row("libcuda", "%s", cmp.Or(d.Driver, "not found"))
	for _, v := range d.Variables {
		note := v.Meaning
		if !v.Known {
			note = "unknown, ignored"
		}
		row(v.Name, "%s (environment; %s)", v.Value, note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := c.stdout.Write(buf.Bytes())
	return err
}
