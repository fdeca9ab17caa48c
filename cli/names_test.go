package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
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

func TestFlagsMayStandAnywhere(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "saxpy", "cubin", "code")
	dir := u.dir
	u.env["JITCACHE_DIR"] = t.TempDir() + "/another"
	for _, args := range []string{
		"-directory DIR ls -json -kind cubin", "ls -directory DIR -json -kind cubin", "ls --json --kind=cubin --directory=DIR",
		"-json -directory DIR ls -kind cubin", "show -json KEY -directory DIR", "show KEY -json -directory DIR",
		"show -directory DIR -- KEY", "export KEY - -directory DIR", "export -directory DIR KEY -",
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
	for _, args := range []string{"--version", "-version", "ls --version", "version", "--version -directory DIR"} {
		if out := u.ok(strings.Fields(args)...); out != "jitcache "+Version+"\n" {
			t.Errorf("%s: %q", args, out)
		}
	}
}

func TestEveryCommandPrintsJSON(t *testing.T) {
	u := newAccount(t)
	k := u.put("a", "saxpy", "cubin", "code")
	u.put("b", "other", "cubin", "code")
	for _, args := range []string{
		"dir", "version", "ls", "stats", "stats -since 7d", "report PAGE", "show KEY", "path KEY", "export KEY FILE", "explain saxpy", "config", "config max-size",
		"config max-size 1Gi", "verify", "doctor", "trust list", "completion bash", "rm other", "trim", "clear", "init NEW",
	} {
		words := strings.Fields(strings.NewReplacer("KEY", k.ID.String(), "FILE", t.TempDir()+"/f", "PAGE", t.TempDir()+"/p.html", "NEW", t.TempDir()+"/c").Replace(args))
		out, errs, status := u.run(append(words, "-json")...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil || status != 0 {
			t.Errorf("%s -json: %v, status %d, %s\n%s", args, err, status, errs, out)
		}
	}
}

func TestRecordsAreHiddenUnlessAskedFor(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	u.put("b", "saxpy", noteKind, "a record")
	if out := u.ok("ls"); strings.Contains(out, noteKind) || !strings.Contains(out, "cubin") {
		t.Errorf("ls:\n%s", out)
	}
	for _, args := range [][]string{{"ls", "-all"}, {"ls", "-kind", noteKind}} {
		if out := u.ok(args...); !strings.Contains(out, noteKind) {
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
		"ex": "explain export", "ls --k": "--kind", "show st": "stokes residual", "completion ": "bash fish zsh", "show --js": "--json",
		"--ver": "--version", "rm": "rm", "-directory DIR sho": "show", "nonsense ": "",
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
