// evict, metrics and top.

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// names returns the names of the entries, in order.
func (u *account) names() (names []string) {
	u.t.Helper()
	var all []struct {
		Name string
	}
	if err := json.Unmarshal([]byte(u.ok("ls", "-json")), &all); err != nil {
		u.t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}

func TestEvictRemovesWhatFitsAllThatIsGivenAndNothingElse(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		args string
		want string // the names that are left
	}{
		{"-older-than 30d", "m.f(int64),m.g(int64)"},
		{"-older-than 4w", "m.f(int64),m.g(int64)"},
		{"-older-than 1y", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-older-than 1h", ""},
		{"-kind native", "m.f(int64),m.g(int64),m.old"},
		{"-kind native -older-than 60d", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-kind nothing", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-name f", "m.g(int64),m.old,solver.c"},
		{"-name m.f(int64)", "m.g(int64),m.old,solver.c"},
		{"-name m", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-name m.*", "solver.c"},
		{"-name *(int64)", "m.old,solver.c"},
		{"-name *ol*", "m.f(int64),m.g(int64)"},
		{"-name m.*.old", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-name m.old*old", "m.f(int64),m.g(int64),m.old,solver.c"},
		{"-name m.* -older-than 30d", "m.f(int64),m.g(int64),solver.c"},
		{"-name *", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			u := newAccount(t)
			for name, age := range map[string]time.Duration{"m.f(int64)": 2 * time.Hour, "m.g(int64)": day, "m.old": 90 * day, "solver.c": 40 * day} {
				kind := "numba"
				if name == "solver.c" {
					kind = "native"
				}
				k := u.put(name, name, kind, "code")
				path := strings.TrimSpace(u.ok("path", k.ID.String()))
				if err := os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
					t.Fatal(err)
				}
			}
			u.ok(append([]string{"evict"}, strings.Split(c.args, " ")...)...)
			if left := strings.Join(u.names(), ","); left != c.want {
				t.Errorf("left are %s, want %s", left, c.want)
			}
		})
	}
}

func TestEvictSaysWhatItHasRemoved(t *testing.T) {
	u := newAccount(t)
	u.put("a", "a", "numba", "code")
	u.put("b", "b", "cubin", "code")
	if out := u.ok("evict", "-kind", "cubin"); !strings.HasPrefix(out, "evicted 1 entry, ") {
		t.Error(out)
	}
	var said struct{ Entries, Bytes int }
	if err := json.Unmarshal([]byte(u.ok("evict", "-name", "a", "-json")), &said); err != nil || said.Entries != 1 || said.Bytes == 0 {
		t.Error(said, err)
	}
	if out := u.ok("stats"); !strings.Contains(out, "in 0 entries") {
		t.Error(out)
	}
}

func TestEvictWithoutAChoiceOrWithABadOneRemovesNothing(t *testing.T) {
	u := newAccount(t)
	u.put("a", "a", "numba", "code")
	for _, args := range []string{"", "-older-than 30", "-older-than d", "-older-than -1d", "-older-than -5m", "-older-than 999999999999d", "-older-than x", "-kind", "-name", "all"} {
		if _, errs, status := u.run(append([]string{"evict"}, strings.Fields(args)...)...); status != exitFail {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
	if _, _, status := u.run("evict", "-name", ""); status != exitFail {
		t.Error("an empty name fits")
	}
	if len(u.names()) != 1 {
		t.Error("an entry is gone")
	}
}

// The grammar of a sample in the text format: https://prometheus.io/docs/instrumenting/exposition_formats.
var sampleLine = regexp.MustCompile(`^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} ([0-9.]+)$`)

func TestMetricsAreInThePrometheusFormat(t *testing.T) {
	u := newAccount(t)
	u.dir = filepath.Join(t.TempDir(), `a "quoted\ name`)
	u.env["JITCACHE_DIR"] = u.dir
	u.env["JITCACHE_REMOTE"] = "file:///nowhere|trust=unsigned"
	u.put("a", "a", "cubin", "code")
	u.miss("cubin")
	out := u.ok("metrics")
	types, values := map[string]string{}, map[string]string{}
	for l := range strings.Lines(out) {
		l = strings.TrimSuffix(l, "\n")
		words := strings.Fields(l)
		switch {
		case strings.HasPrefix(l, "# HELP "):
		case strings.HasPrefix(l, "# TYPE "):
			if types[words[2]] != "" {
				t.Errorf("%s begins twice", words[2])
			}
			types[words[2]] = words[3]
		default:
			m := sampleLine.FindStringSubmatch(l)
			if m == nil {
				t.Fatalf("no sample: %s", l)
			}
			if counts := strings.HasSuffix(m[1], "_total"); types[m[1]] == "" || counts != (types[m[1]] == "counter") {
				t.Errorf("%s is a %q", m[1], types[m[1]])
			}
			if values[m[1]+m[2]] != "" {
				t.Errorf("%s is there twice", l)
			}
			values[m[1]+m[2]] = m[3]
		}
	}
	at := `directory="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(u.dir) + `"`
	for sample, want := range map[string]string{
		"jitcache_entries" + at:                                        "1",
		"jitcache_puts_total" + at + `,kind="cubin"`:                   "1",
		"jitcache_misses_total" + at + `,kind="cubin",reason="absent"`: "1",
		"jitcache_hits_total" + at + `,kind="cubin",tier="directory"`:  "0",
		"jitcache_remote_waiting" + at + `,remote="file:///nowhere"`:   "0",
		"jitcache_remote_up" + at + `,remote="file:///nowhere"`:        "0",
	} {
		if values[sample] != want {
			t.Errorf("%s is %q, want %s\n%s", sample, values[sample], want, out)
		}
	}
	file := filepath.Join(t.TempDir(), "jitcache.prom")
	if said := u.ok("metrics", file); said != "" {
		t.Errorf("printed %s", said)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != out {
		t.Errorf("the file has %s, %v", text, err)
	}
}

func TestTopShowsWhatIsNewSinceTheLastView(t *testing.T) {
	u := newAccount(t)
	u.put("a", "a", "cubin", "code")
	done := make(chan string)
	go func() {
		out, errs, _ := u.run("top", "-json", "-n", "2", "-interval", "2s")
		done <- out + errs
	}()
	time.Sleep(500 * time.Millisecond)
	u.miss("cubin")
	var views []topView
	out := <-done
	for l := range strings.Lines(out) {
		var v topView
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatal(err, out)
		}
		views = append(views, v)
	}
	if len(views) != 2 || len(views[1].Kinds) != 1 {
		t.Fatal(out)
	}
	first, second := views[0].Kinds[0], views[1].Kinds[0]
	if first.New.Misses != 0 || second.New.Misses != 1 || second.Misses != first.Misses+1 || views[1].Entries != 1 {
		t.Error(out)
	}
	if out := u.ok("top", "-n", "1"); !strings.Contains(out, "cubin") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	for _, args := range []string{"-n -1", "-interval 1ms", "x"} {
		if _, _, status := u.run(append([]string{"top"}, strings.Fields(args)...)...); status != exitFail {
			t.Errorf("%s: status %d", args, status)
		}
	}
}
