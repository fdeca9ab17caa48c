// Names, and parts of them, in place of keys.

package cli

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
)

func TestNamesAreTakenWhereKeysAre(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "stokes residual", "native", "module")
	u.put("b", "other", "native", "code")
	for _, command := range []string{"show", "path", "explain"} {
		byKey, byName := u.ok(command, k.ID.String()), u.ok(command, "stokes residual")
		if byKey != byName || byKey == "" {
			t.Errorf("%s: %q by name, %q by key", command, byName, byKey)
		}
	}
	if out := u.ok("export", "stokes residual", "-"); out != "module" {
		t.Errorf("export: %q", out)
	}
	u.ok("rm", "stokes residual", "other")
	if out, _, status := u.run("show", "other"); status != 1 || out != "" {
		t.Errorf("after rm: status %d", status)
	}
}

func TestNameOfSeveralEntriesSaysSo(t *testing.T) {
	u := newAccount(t)
	first := u.put("a", "saxpy", "cubin", "one")
	second := u.put("b", "saxpy", "ptx", "two")
	for _, args := range [][]string{{"show", "saxpy"}, {"path", "saxpy"}, {"export", "saxpy", "-"}, {"rm", "saxpy"}} {
		out, errs, status := u.run(args...)
		if status != 2 || out != "" || !strings.Contains(errs, "2 entries have that name") {
			t.Errorf("%v: status %d, %q", args, status, errs)
		}
		for _, want := range []string{first.ID.String()[:12], second.ID.String()[:12], "cubin", "ptx"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%v does not list %s: %q", args, want, errs)
			}
		}
	}
	if out := u.ok("export", first.ID.String()[:12], "-"); out != "one" {
		t.Errorf("nothing was to be removed: %q", out)
	}
}

func TestNameThatIsTheBeginningOfAKeySaysSo(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "", "cubin", "one")
	name := k.ID.String()[:6]
	u.put("b", name, "cubin", "two")
	if _, errs, status := u.run("show", name); status != 2 || !strings.Contains(errs, "the beginning of a key, and a name") {
		t.Errorf("status %d, %q", status, errs)
	}
	if out := u.ok("export", k.ID.String()[:7], "-"); out != "one" {
		t.Errorf("by seven digits: %q", out)
	}
}

const numba = "m.saxpy(float64, array(float64, 1d, C))"

func TestPartOfANameMeansIt(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", numba, "numba", "code")
	u.put("b", "m.saxpy_all(float64)", "numba", "other")
	u.put("c", numba+" by source", "_numba-records", "records")
	u.put("d", "unrelated", "cubin", "other")
	for _, part := range []string{numba, "saxpy", "m.saxpy", "m.saxpy(", "saxpy(float64, a"} {
		for _, args := range [][]string{{"show"}, {"path"}, {"explain"}} {
			if byKey, byPart := u.ok(append(args, k.ID.String())...), u.ok(append(args, part)...); byKey != byPart {
				t.Errorf("%v %s: %q, want %q", args, part, byPart, byKey)
			}
		}
		if out := u.ok("export", part, "-"); out != "code" {
			t.Errorf("export %s: %q", part, out)
		}
	}
	u.ok("rm", numba)
	if out := u.ok("explain", "saxpy"); !strings.Contains(out, numba) || !strings.Contains(out, "absent") {
		t.Errorf("explain what was removed: %s", out)
	}
	if out, _, status := u.run("rm", "saxpy_all"); out != "" || status != exitNo {
		t.Errorf("rm takes a part of a name: status %d, %q", status, out)
	}
}

func TestPartOfSeveralNamesListsThem(t *testing.T) {
	u := newAccount(t)
	u.put("a", "m.saxpy(int64)", "numba", "one")
	u.put("b", "m.saxpy(float64)", "numba", "two")
	u.put("c", "other.saxpy(float64)", "numba", "three")
	u.put("d", "m.saxpy(float64) by source", "_numba-records", "records")
	for part, want := range map[string][]string{
		"saxpy": {"m.saxpy(int64)", "m.saxpy(float64)", "other.saxpy(float64)"}, "m.sax": {"m.saxpy(int64)", "m.saxpy(float64)"},
	} {
		for _, command := range []string{"show", "path", "explain"} {
			out, errs, status := u.run(command, part)
			if status != exitFail || out != "" || !strings.Contains(errs, strconv.Itoa(len(want))+" names match") ||
				strings.Contains(errs, "by source") {
				t.Errorf("%s %s: status %d, %q", command, part, status, errs)
			}
			for _, name := range want {
				if !strings.Contains(errs, "  "+name+"\n") {
					t.Errorf("%s %s does not list %s: %q", command, part, name, errs)
				}
			}
		}
	}
	for n := range maxShown + 5 {
		u.put("e"+strconv.Itoa(n), "many.f("+strconv.Itoa(n)+")", "numba", "code")
	}
	if _, errs, _ := u.run("show", "many"); strings.Count(errs, "many.f(") != maxShown || !strings.Contains(errs, "and 5 more") {
		t.Errorf("%q", errs)
	}
}

func TestFitsOfNames(t *testing.T) {
	for _, c := range []struct {
		arg, name string
		want      fit
	}{
		{"m.f(int64)", "m.f(int64)", isName},
		{"f", "m.f(int64)", isBare},
		{"m.f", "m.f(int64)", isBare},
		{"a::f", "b::a::f<int>", isBare},
		{"saxpy.cu", "src/saxpy.cu", isBare},
		{"gcc", "gcc -c a.c", isBare},
		{"saxpy", "src/saxpy.cu", begins},
		{"f(int", "m.f(int64)", begins},
		{"m.", "m.f(int64)", begins},
		{"int64", "m.f(int64)", fitsNot},
		{"x", "m.f(x.y)", fitsNot},
		{"axpy", "m.saxpy", fitsNot},
		{"f", "", fitsNot},
	} {
		if got := fitOf(c.arg, c.name); got != c.want {
			t.Errorf("%s in %s: %d, want %d", c.arg, c.name, got, c.want)
		}
	}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "saxpy", "cubin", "code")
	dir := u.dir
	u.env["JITCACHE_DIR"] = t.TempDir() + "/another"
	for _, args := range []string{
		"-directory DIR ls -json -kind cubin", "ls -directory DIR -json -kind cubin", "ls --json --kind=cubin --directory=DIR",
		"-json -directory DIR ls -kind cubin", "show -json KEY -directory DIR", "show KEY -json -directory DIR",
		"show -directory DIR -- KEY", "-kind cubin ls -directory DIR", "export KEY - -directory DIR", "export -directory DIR KEY -",
	} {
		words := strings.Fields(strings.NewReplacer("DIR", dir, "KEY", k.ID.String()).Replace(args))
		if out := u.ok(words...); !strings.Contains(out, "saxpy") && out != "code" {
			t.Errorf("%s: %q", args, out)
		}
	}
	u.env["JITCACHE_DIR"] = dir
	odd := u.put("b", "-json", "cubin", "odd")
	if out := u.ok("export", "--", "-json", "-"); out != "odd" {
		t.Errorf("a name that looks like a flag (%s): %q", odd.ID, out)
	}
	for _, args := range []string{"-not-before 2001-01-01 trust add", "trust -not-before 2001-01-01 add", "trust add -not-before 2001-01-01"} {
		public := strings.TrimSpace(u.ok("trust", "new", t.TempDir()+"/secret"))
		u.ok(append(strings.Fields(args), public)...)
		if out := u.ok("trust", "list"); !regexp.MustCompile(public + " +trusted from 2001").MatchString(out) {
			t.Errorf("%s:\n%s", args, out)
		}
	}
	for _, args := range []string{"remote -timeout 1s flush", "remote flush -timeout 1s", "-timeout 1s remote flush"} {
		u.ok(strings.Fields(args)...)
	}
	for _, args := range []string{"--version --json", "-json -version", "version -json"} {
		if out := u.ok(strings.Fields(args)...); !strings.Contains(out, `"version": "`+Version+`"`) {
			t.Errorf("%s: %q", args, out)
		}
	}
	for _, args := range []string{"--version", "-version", "ls --version", "version", "--version -directory DIR"} {
		if out := u.ok(strings.Fields(args)...); out != "jitcache "+Version+"\n" {
			t.Errorf("%s: %q", args, out)
		}
	}
}

// withJSON has a use of every command that prints one document. Left out are run, which
// prints its command's output (tests/launch/test_told.py), and bundle, which is another
// program (tests/python/test_bundles.py).
var withJSON = map[string][]string{
	"stats": {"", "-since 7d", "-zero"}, "report": {"PAGE"}, "ls": {""}, "show": {"KEY"}, "path": {"KEY"}, "export": {"KEY FILE"},
	"explain": {"saxpy"}, "rm": {"other"}, "trim": {""}, "evict": {"-kind nothing"}, "top": {"-n 1"}, "metrics": {""}, "clear": {""}, "verify": {"", "-signatures"}, "sign": {"-key SECRET"},
	"trust": {"new SECRET", "add PUBLIC name", "list", "remove PUBLIC"}, "remote": {"flush", "status"}, "init": {"NEW"},
	"config": {"", "max-size", "max-size 1Gi"}, "doctor": {""}, "dir": {""}, "completion": {"bash"}, "version": {""},
}

func TestEveryCommandOfTheHelpPrintsJSON(t *testing.T) {
	u := newAccount(t)
	_, help, _ := strings.Cut(u.ok("help"), "commands:\n")
	help, _, _ = strings.Cut(help, "\n\n")
	listed := map[string]bool{}
	for line := range strings.Lines(help) {
		listed[strings.Fields(line)[0]] = true
	}
	for name := range listed {
		if _, tried := withJSON[name]; !tried && name != "run" && name != "bundle" {
			t.Errorf("%s prints no JSON, as far as this test knows", name)
		}
	}
	folder := t.TempDir()
	public := ""
	k := u.put("a", "saxpy", "cubin", "code")
	u.put("b", "other", "cubin", "code")
	// trust comes before sign and verify, whose answers depend on keys; clear comes last.
	names := slices.Sorted(maps.Keys(withJSON))
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	for _, name := range names {
		if !listed[name] {
			t.Errorf("%s is not in the help", name)
		}
		for _, args := range withJSON[name] {
			words := strings.Fields(strings.NewReplacer(
				"KEY", k.ID.String(), "FILE", folder+"/f", "PAGE", folder+"/p.html", "NEW", folder+"/c", "SECRET", folder+"/secret", "PUBLIC", public,
			).Replace(name + " " + args))
			out, errs, status := u.run(append(words, "--json")...)
			var v any
			if err := json.Unmarshal([]byte(out), &v); err != nil || status != 0 && args != "-signatures" {
				t.Errorf("%s %s --json: %v, status %d, %s\n%s", name, args, err, status, errs, out)
			}
			if made, ok := v.(map[string]any); ok && args == "new SECRET" {
				public, _ = made["key"].(string)
			}
		}
	}
}

// order is the order of commands that need what an earlier one leaves. All others come before.
var order = []string{"trust", "sign", "verify", "rm", "clear"}

func TestPayloadAndObjectDoNotMeetOnStandardOutput(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	for _, args := range [][]string{{"export", "saxpy", "-", "-json"}, {"report", "-", "-json"}} {
		if out, _, status := u.run(args...); out != "" || status != exitFail {
			t.Errorf("%v: status %d, %q", args, status, out)
		}
	}
}

func TestRunStandsFirst(t *testing.T) {
	u := newAccount(t)
	for args, want := range map[string]string{"-directory DIR run gcc -c a.c": "must be the first word", "-json run gcc": "must be the first word", "run": "which command"} {
		if _, errs, status := u.run(strings.Fields(args)...); status != exitFail || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q", args, status, errs)
		}
	}
}

func TestRecordsAreHiddenUnlessAskedFor(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	u.put("b", "saxpy", core.NoteKind, "a record")
	if out := u.ok("ls"); strings.Contains(out, core.NoteKind) || !strings.Contains(out, "cubin") {
		t.Errorf("ls:\n%s", out)
	}
	for _, args := range [][]string{{"ls", "-all"}, {"ls", "-kind", core.NoteKind}} {
		if out := u.ok(args...); !strings.Contains(out, core.NoteKind) {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	if out := u.ok("export", "saxpy", "-"); out != "code" {
		t.Errorf("a record has the name: %q", out)
	}
}

func TestListIsSortedAndLimited(t *testing.T) {
	u := newAccount(t)
	for n := range maxListed + 20 {
		u.put(strconv.Itoa(n), "entry "+strconv.Itoa(1000+n), "cubin", strings.Repeat("x", 1+n))
	}
	names := func(args ...string) (found []string) {
		for _, line := range strings.Split(strings.TrimSpace(u.ok(append([]string{"ls"}, args...)...)), "\n")[1:] {
			found = append(found, line[strings.Index(line, "entry"):])
		}
		return found
	}
	if n := len(names()); n != maxListed {
		t.Errorf("%d entries, want %d", n, maxListed)
	}
	if n := len(names("-n", "0")); n != maxListed+20 {
		t.Errorf("%d entries with -n 0", n)
	}
	if got := names("-sort", "size", "-n", "2"); got[0] != "entry 1119" || got[1] != "entry 1118" {
		t.Errorf("by size: %q", got)
	}
	if got := names("-sort", "name", "-n", "1"); got[0] != "entry 1000" {
		t.Errorf("by name: %q", got)
	}
	var all []any
	if err := json.Unmarshal([]byte(u.ok("ls", "-json")), &all); err != nil || len(all) != maxListed+20 {
		t.Errorf("%d in JSON, %v", len(all), err)
	}
	if _, _, status := u.run("ls", "-sort", "nonsense"); status != 2 {
		t.Errorf("status %d", status)
	}
}

func TestShellsAreOfferedWhatMayCome(t *testing.T) {
	u := newAccount(t)
	u.put("a", "stokes residual", "native", "module")
	u.put("b", "stokes\x1b[2Jjacobian", "native", "module")
	for words, want := range map[string]string{
		"ex": "explain export", "ls --k": "--kind", "show st": "stokes residual", "completion ": "bash fish zsh", "show --js": "--json", "run --js": "--json",
		"--ver": "--version", "rm": "rm", "gcc -": "", "-directory DIR sho": "show", "nonsense ": "",
		"trust ": "new add remove list", "trust -not-before 2001-01-01 ad": "add", "trust nonsense ": "", "run gcc --": "", "run --map -x gcc -": "", "help ": "trust", "help remote ": "status flush serve", "trust list ": "",
	} {
		args := append([]string{"complete"}, strings.Split(strings.ReplaceAll(words, "DIR", u.dir), " ")...)
		got := strings.Split(strings.TrimSpace(u.ok(args...)), "\n")
		for _, w := range strings.Fields(want) {
			if !strings.Contains(strings.Join(got, "\n"), w) {
				t.Errorf("%q: %q, want %q", words, got, want)
			}
		}
		if strings.Contains(strings.Join(got, ""), "jacobian") || want == "" && got[0] != "" {
			t.Errorf("%q: %q", words, got)
		}
	}
}

func TestExplainSaysWhatWasInTheWayOfAResult(t *testing.T) {
	u := newAccount(t)
	u.put("a", "m.other(int64)", "native", "code")
	c, err := core.Open(core.Options{Env: func(n string) string { return u.env[n] }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.solve(int64)", "m.other(int64)"} {
		c.NotStored(&key.Key{Name: name}, "native", store.Unrepeatable, "/src/solve.h: has a random name")
	}
	c.Close()
	for _, name := range []string{"m.solve(int64)", "solve", "m.other(int64)", "other"} {
		if out := u.ok("explain", name); !strings.Contains(out, "not repeatable: /src/solve.h: has a random name") {
			t.Errorf("%s:\n%s", name, out)
		}
		if out := u.ok("explain", "-json", name); !strings.Contains(out, `"why": "/src/solve.h: has a random name"`) {
			t.Errorf("%s:\n%s", name, out)
		}
	}
	u.put("b", "m.other(int64)", "native", "later")
	if out := u.ok("explain", "other"); strings.Contains(out, "/src/solve.h") {
		t.Errorf("a result was stored since:\n%s", out)
	}
}
