package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"jitcache/core"
	"jitcache/core/cli"
	"jitcache/core/store"
)

// What is said in two languages must be said alike.

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// defines returns the numbers of the header's macros that begin with a prefix.
func defines(t *testing.T, prefix string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#define (`+prefix+`\w+) \(?(-?\d+)\)?`).FindAllStringSubmatch(read(t, "include/jitcache.h"), -1) {
		found[m[1]], _ = strconv.Atoi(m[2])
	}
	if len(found) == 0 {
		t.Fatalf("the header defines no %s…", prefix)
	}
	return found
}

// texts returns what a switch of names.c returns for each macro.
func texts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`case (\w+):\s*return "([^"]*)"`).FindAllStringSubmatch(read(t, "capi/names.c"), -1) {
		found[m[1]] = m[2]
	}
	return found
}

func TestReasonsAreTheSameInCAndGo(t *testing.T) {
	numbers, names := defines(t, "JITCACHE_REASON_"), texts(t)
	for macro, n := range numbers {
		if got, want := names[macro], store.Reason(n).String(); got != want {
			t.Errorf("%s is %q in C and %q in Go", macro, got, want)
		}
	}
	if want := len(store.Reasons()) + 1; len(numbers) != want {
		t.Errorf("the header has %d reasons, Go %d", len(numbers), want)
	}
}

func TestStatusesAreNamedAndMatchGo(t *testing.T) {
	names := texts(t)
	for macro, n := range defines(t, "JITCACHE_ERR_") {
		if names[macro] == "" || n >= 0 {
			t.Errorf("%s = %d has no name, or is no error", macro, n)
		}
	}
	all := defines(t, "JITCACHE_")
	for macro, want := range map[string]core.Status{
		"JITCACHE_OK": core.Hit, "JITCACHE_LEASE": core.Leased, "JITCACHE_BUSY": core.Busy, "JITCACHE_TIMEOUT": core.Timeout,
	} {
		if all[macro] != int(want) {
			t.Errorf("%s is %d in C and %d in Go", macro, all[macro], want)
		}
	}
}

func TestOptionsAreTheSameInCAndGoAndInTheManual(t *testing.T) {
	table := regexp.MustCompile(`(?s)known\[\] = \{(.*?)\}`).FindStringSubmatch(read(t, "capi/options.c"))[1]
	inC := map[string]bool{}
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(table, -1) {
		inC[m[1]] = true
		if _, ok := core.OptionNames[m[1]]; !ok {
			t.Errorf("C has option %q, Go has not", m[1])
		}
	}
	manual := read(t, "include/jitcache.h")
	for name := range core.OptionNames {
		if !inC[name] {
			t.Errorf("Go has option %q, C has not", name)
		}
		if !regexp.MustCompile(`\n \*\t` + name + `\s`).MatchString(manual) {
			t.Errorf("the header does not explain option %q", name)
		}
	}
}

func TestVariablesAreInTheManual(t *testing.T) {
	manual := read(t, "include/jitcache.h") + read(t, "README.md")
	for _, v := range core.Variables {
		if !strings.Contains(manual, v.Name) {
			t.Errorf("neither header nor README mentions %s", v.Name)
		}
	}
}

func TestPythonDeclaresEveryFunction(t *testing.T) {
	ffi := read(t, "python/jitcache/_ffi.py")
	// Functions that Python has no use for.
	unused := map[string]bool{
		"jitcache_key_set_name": true, "jitcache_key_set_kind": true, "jitcache_key_hex": true,
		"jitcache_get": true, "jitcache_get_or_compile": true,
	}
	header := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(read(t, "include/jitcache.h"), "")
	for _, m := range regexp.MustCompile(`\b(jitcache_\w+)\(`).FindAllStringSubmatch(header, -1) {
		if declared := strings.Contains(ffi, `"`+m[1]+`"`); declared == unused[m[1]] {
			t.Errorf("%s: declared in Python: %v, want %v", m[1], declared, !declared)
		}
	}
}

func TestVersionIsOne(t *testing.T) {
	want := cli.Version
	for name, pattern := range map[string]string{
		"include/jitcache.h":          `#define JITCACHE_VERSION "(.*)"`,
		"python/jitcache/__init__.py": `__version__ = "(.*)"`,
		"pyproject.toml":              `(?m)^version = "(.*)"`,
		"CHANGELOG.md":                `(?m)^## (\S+),`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(t, name))
		if m == nil || m[1] != want {
			t.Errorf("%s: %v, want %s", name, m, want)
		}
	}
	parts := strings.Split(want, ".")
	for i, macro := range []string{"MAJOR", "MINOR", "PATCH"} {
		if n, _ := strconv.Atoi(parts[i]); defines(t, "JITCACHE_VERSION_")["JITCACHE_VERSION_"+macro] != n {
			t.Errorf("JITCACHE_VERSION_%s is not %d", macro, n)
		}
	}
}

func TestTableOfRoomsIsThatOfTheDocument(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	for room := range uses {
		if room != "core/cli/jitcache" && !strings.Contains(text, room) {
			t.Errorf("ARCHITECTURE.md does not mention %s", room)
		}
	}
}
