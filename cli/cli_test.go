// The command as a user runs it: its output, and its exit statuses.

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
)

// account is a user, with a cache directory and an environment.
type account struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newAccount(t *testing.T) *account {
	t.Helper()
	u := &account{t: t, dir: filepath.Join(t.TempDir(), "cache")}
	u.env = map[string]string{"JITCACHE_DIR": u.dir, "HOME": t.TempDir()}
	return u
}

// put stores an entry the way a program would.
func (u *account) put(source, name, kind, payload string) *key.Key {
	u.t.Helper()
	b := key.NewBuilder()
	b.Add("source", []byte(source))
	b.SetName(name)
	b.SetKind(kind)
	k, err := b.Seal()
	if err != nil {
		u.t.Fatal(err)
	}
	c, err := core.Open(core.Options{Env: func(n string) string { return u.env[n] }})
	if err != nil {
		u.t.Fatal(err)
	}
	defer c.Close()
	if why := c.Put(k, []byte(payload), `{"lowered":{"f":"_Z1f"}}`, false); why != store.None {
		u.t.Fatal(why)
	}
	return k
}

// run runs a command and returns what it printed and its status.
func (u *account) run(args ...string) (out, errs string, status int) {
	u.t.Helper()
	env := Environment{Get: func(n string) string { return u.env[n] }, Become: func(string) error { return os.ErrNotExist }}
	for name := range u.env {
		if strings.HasPrefix(name, "JITCACHE") {
			env.Names = append(env.Names, name)
		}
	}
	var stdout, stderr bytes.Buffer
	status = Main(append([]string{"jitcache"}, args...), env, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

// ok runs a command that must succeed, and returns its output.
func (u *account) ok(args ...string) string {
	u.t.Helper()
	out, errs, status := u.run(args...)
	if status != 0 || errs != "" {
		u.t.Fatalf("jitcache %v: status %d, %s%s", args, status, out, errs)
	}
	return out
}

func TestExitStatuses(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "saxpy", "cubin", "code")
	for _, c := range []struct {
		args string
		want int
	}{
		{"help", 0},
		{"help stats", 0},
		{"help nothing", 2},
		{"help trust nothing", 2},
		{"stats -h", 0},
		{"", 2},
		{"nonsense", 2},
		{"stats extra", 2},
		{"stats -since 7", 2},
		{"stats -since 0d", 2},
		{"stats -since 99999y", 2},
		{"stats -since 2999-01-01", 2},
		{"stats -since 1901-01-01", 2},
		{"stats -nonsense", 2},
		{"stats", 0},
		{"ls", 0},
		{"show " + k.ID.String(), 0},
		{"show", 2},
		{"show zz", 1},
		{"show 0000", 1},
		{"path 0000", 1},
		{"export 0000 -", 1},
		{"explain nobody", 1},
		{"rm 0000", 1},
		{"config nonsense 1", 2},
		{"config max-size much", 2},
		{"init", 2},
		{"init -mode 9 " + u.dir + "2", 2},
		{"init " + u.dir, 2},
		{"dir", 0},
		{"version", 0},
		{"doctor", 0},
		{"verify", 0},
		{"trim", 0},
		{"clear", 0},
	} {
		out, errs, got := u.run(strings.Fields(c.args)...)
		if got != c.want {
			t.Errorf("jitcache %s: status %d, want %d\n%s%s", c.args, got, c.want, out, errs)
		}
		if got != 0 && out != "" {
			t.Errorf("jitcache %s failed, and wrote to standard output: %q", c.args, out)
		}
		if got == 2 && !strings.Contains(errs, "jitcache") {
			t.Errorf("jitcache %s: says %q", c.args, errs)
		}
	}
}

func TestListings(t *testing.T) {
	u := newAccount(t)
	a := u.put("a", "saxpy", "cubin", "code")
	u.put("b", "stokes residual", "native", "module")
	lines := strings.Split(strings.TrimSpace(u.ok("ls")), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "KEY") || !strings.HasPrefix(lines[2], a.ID.String()[:12]) || !strings.Contains(lines[1], "stokes residual") {
		t.Errorf("ls: %q", lines)
	}
	lines = strings.Split(strings.TrimSpace(u.ok("ls", "-last", "1")), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], "stokes residual") {
		t.Errorf("ls -last: %q", lines)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(u.ok("ls", "-json", "-last", "5")), &list); err != nil || len(list) != 2 || list[1]["key"] != a.ID.String() {
		t.Errorf("%v, %v", list, err)
	}
	if err := json.Unmarshal([]byte(u.ok("ls", "-json", "-kind", "cubin")), &list); err != nil || len(list) != 1 || list[0]["key"] != a.ID.String() {
		t.Errorf("%v, %v", list, err)
	}
	var shown struct {
		Key, Name, Kind string
		Size            int
		Components      map[string]string
		Attributes      map[string]any
	}
	if err := json.Unmarshal([]byte(u.ok("show", "-json", a.ID.String()[:8])), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Key != a.ID.String() || shown.Name != "saxpy" || shown.Size != 4 || len(shown.Components) != 1 || shown.Attributes["lowered"] == nil {
		t.Errorf("%+v", shown)
	}
	for _, want := range []string{"saxpy", "cubin", "4 bytes", "source", "_Z1f", a.ID.String()} {
		if text := u.ok("show", a.ID.String()); !strings.Contains(text, want) {
			t.Errorf("show lacks %q:\n%s", want, text)
		}
	}
	if list := u.ok("ls", "-json", "-kind", "none"); strings.TrimSpace(list) != "[]" {
		t.Errorf("nothing is listed as %q", list)
	}
}

func TestExportIsThePayloadAlone(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "x", "ptx", ".version 8.0\n")
	file := filepath.Join(t.TempDir(), "out")
	u.ok("export", k.ID.String(), file)
	if b, err := os.ReadFile(file); err != nil || string(b) != ".version 8.0\n" {
		t.Errorf("%q, %v", b, err)
	}
	if out := u.ok("export", k.ID.String()[:10], "-"); out != ".version 8.0\n" {
		t.Errorf("%q", out)
	}
	if b, err := os.ReadFile(strings.TrimSpace(u.ok("path", k.ID.String()))); err != nil || !strings.HasPrefix(string(b), ".version") {
		t.Errorf("%q, %v", b, err)
	}
}

func TestStatsCountAndZero(t *testing.T) {
	u := newAccount(t)
	u.put("a", "x", "cubin", "code")
	var s core.Stats
	if err := json.Unmarshal([]byte(u.ok("stats", "-json")), &s); err != nil || s.Kinds["cubin"].Puts != 1 || s.Entries != 1 || s.Directory == "" {
		t.Errorf("%+v, %v", s, err)
	}
	text := u.ok("stats", "-zero")
	if !strings.Contains(text, "cubin") || !strings.Contains(text, "1 entry") {
		t.Errorf("%s", text)
	}
	if text := u.ok("stats"); strings.Contains(text, "cubin") || !strings.Contains(text, "counting since") {
		t.Errorf("after zero:\n%s", text)
	}
}

func TestExplainComparesTheLastTwo(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "x")
	if text := u.ok("explain", "saxpy"); !strings.Contains(text, "unknown") {
		t.Errorf("%s", text)
	}
	k := u.put("b", "saxpy", "cubin", "x")
	for _, arg := range []string{"saxpy", k.ID.String()} {
		text := u.ok("explain", arg)
		if !strings.Contains(text, "changed source") || !strings.Contains(text, k.ID.String()[:12]) || !strings.Contains(text, "present") {
			t.Errorf("explain %s:\n%s", arg, text)
		}
	}
	u.ok("rm", k.ID.String())
	if text := u.ok("explain", "saxpy"); !strings.Contains(text, "absent") {
		t.Errorf("%s", text)
	}
}

func TestClearVerifyTrim(t *testing.T) {
	u := newAccount(t)
	u.put("a", "x", "cubin", "x")
	k := u.put("b", "y", "native", "y")
	u.put("c", "z", "native", "z")
	path := strings.TrimSpace(u.ok("path", k.ID.String()))
	os.Truncate(path, 1)
	out, _, status := u.run("verify", "-keep")
	if status != 1 || !strings.Contains(out, path+": truncated") || !strings.Contains(out, "1 bad, 0 removed") {
		t.Errorf("verify -keep: %d\n%s", status, out)
	}
	out, _, status = u.run("verify", "-json")
	var r core.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 1 || r.Removed != 1 || len(r.Bad) != 1 || r.Bad[0].Reason != "truncated" {
		t.Errorf("verify -json: %d %+v, %v", status, r, err)
	}
	if out := u.ok("verify"); !strings.HasPrefix(out, "2 entries") {
		t.Errorf("%s", out)
	}
	if out := u.ok("clear", "-kind", "native"); !strings.HasPrefix(out, "removed 1 entry") {
		t.Errorf("%s", out)
	}
	if out := u.ok("trim"); !strings.HasPrefix(out, "evicted 0 entries") {
		t.Errorf("%s", out)
	}
	if out := u.ok("clear"); !strings.HasPrefix(out, "removed 1 entry") {
		t.Errorf("%s", out)
	}
}

func TestInitAndConfig(t *testing.T) {
	u := newAccount(t)
	base := t.TempDir()
	for _, c := range []struct {
		args []string
		mode os.FileMode
		conf string
	}{
		{[]string{"init", base + "/private"}, 0o700, "max-size = 5368709120\nshared = false\n"},
		{[]string{"init", "-max-size", "10M", base + "/small"}, 0o700, "max-size = 10000000\nshared = false\n"},
		{[]string{"init", "-mode", "755", base + "/readable"}, 0o755, "max-size = 5368709120\nshared = false\n"},
		{[]string{"init", "-shared", "-group", strconv.Itoa(os.Getgid()), base + "/shared"}, os.ModeSetgid | 0o770, "max-size = 5368709120\nshared = true\n"},
	} {
		dir := c.args[len(c.args)-1]
		if _, errs, status := u.run(c.args...); status != 0 {
			t.Errorf("%v: %s", c.args, errs)
			continue
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&(os.ModeSetgid|0o777) != c.mode {
			t.Errorf("%v: mode %v, %v", c.args, info.Mode(), err)
		}
		other := &account{t: t, env: map[string]string{"JITCACHE_DIR": dir, "JITCACHE_SHARED": "1"}}
		sources := regexp.MustCompile(`(?m)  +(\S+)$`)
		out := other.ok("config")
		if !strings.Contains(sources.ReplaceAllString(out, ""), "\n"+c.conf) {
			t.Errorf("%v: config %q", c.args, out)
		}
		if !regexp.MustCompile(`(?m)^directory = ` + dir + ` +JITCACHE_DIR$`).MatchString(out) {
			t.Errorf("%v: config %q", c.args, out)
		}
		if _, _, status := u.run(c.args...); status != 2 {
			t.Errorf("%v again: status %d", c.args, status)
		}
	}
	other := &account{t: t, env: map[string]string{"JITCACHE_DIR": base + "/small"}}
	other.ok("config", "max-size", "2Gi")
	if out := other.ok("config", "max-size"); out != "2147483648\n" {
		t.Errorf("%q", out)
	}
	if _, _, status := u.run("init", "/proc/no"); status != 2 {
		t.Errorf("init where nothing can be made: status %d", status)
	}
}

func TestDoctorSaysEverything(t *testing.T) {
	u := newAccount(t)
	u.env["JITCACHE_LOG"] = "miss"
	u.env["JITCACHE_TYPO"] = "1"
	u.put("a", "x", "cubin", "code")
	var d diagnosis
	if err := json.Unmarshal([]byte(u.ok("doctor", "-json")), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Cached || d.Directory != u.dir || d.Rule != "JITCACHE_DIR" || d.Mode != "0700" || d.FileSystem == "" || d.Free <= 0 ||
		d.MaxSize != store.DefaultMaxSize || d.Entries != 1 || d.Locks != u.dir+"/v1/locks" || d.Glibc == "" || d.Version != Version {
		t.Errorf("%+v", d)
	}
	known := map[string]bool{}
	for _, v := range d.Variables {
		known[v.Name] = v.Known
	}
	if !known["JITCACHE_LOG"] || known["JITCACHE_TYPO"] || len(known) != 3 {
		t.Errorf("variables %v", known)
	}
	text := u.ok("doctor")
	for _, want := range []string{u.dir, "JITCACHE_DIR", "trusted", "0700", "free", "locks", "library", "glibc", "nvrtc", "libcuda", "JITCACHE_TYPO", "unknown"} {
		if !strings.Contains(text, want) {
			t.Errorf("doctor lacks %q:\n%s", want, text)
		}
	}
}

func TestDoctorFailsIfNothingWouldBeCached(t *testing.T) {
	for name, spoil := range map[string]func(u *account) string{
		"off":       func(u *account) string { u.env["JITCACHE"] = "0"; return "JITCACHE=0" },
		"read-only": func(u *account) string { u.env["JITCACHE"] = "readonly"; return "read-only" },
		"untrusted": func(u *account) string { os.Mkdir(u.dir, 0); os.Chmod(u.dir, 0o777); return "anybody may write it" },
		"a file":    func(u *account) string { os.WriteFile(u.dir, nil, 0o600); return "not a directory" },
	} {
		t.Run(name, func(t *testing.T) {
			u := newAccount(t)
			if name == "read-only" {
				u.put("a", "x", "cubin", "x")
			}
			want := spoil(u)
			out, errs, status := u.run("doctor")
			if status != 1 || !strings.Contains(out, want) || !strings.Contains(errs, "nothing would be cached") {
				t.Errorf("status %d\n%s%s", status, out, errs)
			}
		})
	}
}

func TestDoctorListsLeases(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "saxpy", "cubin", "x")
	c, _ := core.Open(core.Options{Env: func(n string) string { return u.env[n] }, Values: map[string]string{"memory_size": "0"}})
	defer c.Close()
	c.Remove(&k.ID)
	_, l, status, _ := c.Acquire(k, -1, false, true)
	if status != core.Leased {
		t.Fatal(status)
	}
	var d diagnosis
	json.Unmarshal([]byte(u.ok("doctor", "-json")), &d)
	if len(d.Leases) != 1 || d.Leases[0].Name != "saxpy" || d.Leases[0].Pid != os.Getpid() {
		t.Errorf("%+v", d.Leases)
	}
	l.Release()
}

func TestRefusedDirectoryIsSaidByEveryCommand(t *testing.T) {
	u := newAccount(t)
	os.Mkdir(u.dir, 0o700)
	os.Chmod(u.dir, 0o777)
	for _, args := range []string{"stats", "ls", "show ab", "verify", "trim", "clear", "config", "rm ab"} {
		out, errs, status := u.run(strings.Fields(args)...)
		if status != 2 || out != "" || !strings.Contains(errs, "anybody may write it") {
			t.Errorf("%s: %d, %q, %q", args, status, out, errs)
		}
	}
}

func TestDirectoryFlagBeatsTheEnvironment(t *testing.T) {
	u := newAccount(t)
	other := filepath.Join(t.TempDir(), "other")
	if out := u.ok("-directory", other, "dir"); out != other+"\n" {
		t.Errorf("%q", out)
	}
}

func TestLowerCapIsKeptAtOnce(t *testing.T) {
	u := newAccount(t)
	for i := range 50 {
		u.put(strconv.Itoa(i), "", "cubin", strings.Repeat("x", 1000))
	}
	if out := u.ok("config", "max-size", "20000"); !strings.HasPrefix(out, "evicted ") {
		t.Errorf("it says %q", out)
	}
	var bytes int64
	filepath.WalkDir(u.dir+"/v1/entries", func(path string, d os.DirEntry, err error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			bytes += info.Size()
		}
		return err
	})
	if bytes > 20000 || bytes < 15000 {
		t.Errorf("%d bytes are left, cap 20000", bytes)
	}
	if out := u.ok("config", "max-size", "1G"); out != "" {
		t.Errorf("a higher cap: it says %q", out)
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAnswerThatCannotBeWrittenIsAFailure(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	env := Environment{Get: func(n string) string { return u.env[n] }}
	for _, args := range []string{"ls", "dir", "dir -json", "stats", "verify", "version", "trust list"} {
		var errs bytes.Buffer
		status := Main(append([]string{"jitcache"}, strings.Fields(args)...), env, full{}, &errs)
		if status != exitFail || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: status %d, %s", args, status, &errs)
		}
	}
}

// The launcher takes each other first word for a program.
func TestNamesOfCommandsAreThoseThatThereAre(t *testing.T) {
	made := []string{"help", "complete"}
	for _, sub := range (&command{}).root().Subcommands {
		made = append(made, sub.Name)
	}
	slices.Sort(made)
	if named := slices.Sorted(slices.Values(commandNames)); !slices.Equal(named, made) {
		t.Errorf("%q are named, and %q are made", named, made)
	}
	for _, word := range []string{"", "st", "stats report", "gcc", "-json"} {
		if IsCommand(word) {
			t.Errorf("%q is a command", word)
		}
	}
}

func TestManualOfRunHasAllThatItObeysAndPointsToNoPage(t *testing.T) {
	u := newAccount(t)
	out := u.ok("run", "-h")
	for _, word := range []string{
		"-base-dir PATH", "-hermetic[=SECOND]", "JITCACHE_HERMETIC", "-json[=FILE]", "-map OPTION", "-placeholder NAME=PATH", "-withhold NAMES", "JITCACHE_BASE_DIR", "JITCACHE_RUN_JSON",
		"JITCACHE_MAP", "JITCACHE_PLACEHOLDER", "JITCACHE_WITHHOLD", "JITCACHE_LOG=miss", "JITCACHE=0", "JITCACHE=refresh", "jitcache.toml",
	} {
		if !strings.Contains(out, word) {
			t.Errorf("the manual has no %s", word)
		}
	}
	if strings.Contains(out, "docs/") {
		t.Error("a wheel has no docs")
	}
}

func TestManualsAreInColumns(t *testing.T) {
	u := newAccount(t)
	begins := regexp.MustCompile(`^  (-?\S+(?: \S+)?)  +\S`)
	for _, name := range append([]string{""}, commandNames...) {
		if name == "help" || name == "complete" || name == "bundle" {
			continue
		}
		out := u.ok(strings.Fields("help " + name)...)
		for _, heading := range []string{"commands", "flags"} {
			_, table, _ := strings.Cut(out, "\n"+heading+":\n")
			table, _, _ = strings.Cut(table, "\n\n")
			column := 0
			for l := range strings.Lines(table) {
				if len(l) > helpWidth+1 {
					t.Errorf("%s: a line has %d columns: %s", name, len(l), l)
				}
				at := len(l) - len(strings.TrimLeft(l, " "))
				if m := begins.FindStringIndex(l); m != nil {
					at = m[1] - 1
				}
				if column = cmp.Or(column, at); at != column {
					t.Errorf("%s: %d is not column %d: %s", name, at, column, l)
				}
			}
		}
	}
}
