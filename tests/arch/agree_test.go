// What is stated twice, in C, Go, Python and pages, agrees.

package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jitcache/core"
	"jitcache/core/store"
)

// The C headers, the Python package and the C++ headers must agree.

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// headers returns the text of the C interface.
func headers(t *testing.T) string {
	t.Helper()
	return read(t, "include/jitcache.h") + read(t, "include/jitcache_cuda.h") + read(t, "include/jitcache_native.h")
}

// functions returns what the C interface declares.
func functions(t *testing.T) []string {
	t.Helper()
	code := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(headers(t), "")
	var found []string
	for _, m := range regexp.MustCompile(`\b(jitcache_\w+)\(`).FindAllStringSubmatch(code, -1) {
		found = append(found, m[1])
	}
	return found
}

// defines returns the numbers of the headers' macros that begin with a prefix.
func defines(t *testing.T, prefix string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#define (`+prefix+`\w+) \(?(-?\d+)\)?`).FindAllStringSubmatch(headers(t), -1) {
		found[m[1]], _ = strconv.Atoi(m[2])
	}
	if len(found) == 0 {
		t.Fatalf("the headers define no %s…", prefix)
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
	manual := headers(t) + read(t, "README.md")
	for _, v := range core.Variables {
		if !strings.Contains(manual, v.Name) {
			t.Errorf("neither header nor README mentions %s", v.Name)
		}
	}
}

// notOfUsers are variables of builds and tests, and the one by which the tracer is found where it is
// not beside the program.
var notOfUsers = regexp.MustCompile("^JITCACHE_(TEST_.*|UNTESTED_GO|OBSERVER)$")

func TestEachVariableThatTheSourcesReadHasARowInTheReadme(t *testing.T) {
	table := read(t, "README.md")
	quoted := regexp.MustCompile("[\"'](JITCACHE(?:_[A-Z]+)*)[\"']")
	seen := map[string]bool{}
	for _, folder := range []string{"capi", "cli", "command", "core", "cuda", "launch", "native", "observe", "python", "record", "storage"} {
		err := filepath.WalkDir("../../"+folder, func(path string, d fs.DirEntry, err error) error {
			of := filepath.Ext(path)
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || of != ".go" && of != ".py" && of != ".c" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range quoted.FindAllSubmatch(text, -1) {
				seen[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range seen {
		if notOfUsers.MatchString(name) {
			continue
		}
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + name + "`[^|]*\\|").MatchString(table) {
			t.Errorf("README.md has no row for %s", name)
		}
		if !slices.ContainsFunc(core.Variables, func(v struct{ Name, Meaning string }) bool { return v.Name == name }) {
			t.Errorf("core.Variables lacks %s: doctor does not know it", name)
		}
	}
	if len(seen) < len(core.Variables) {
		t.Errorf("%d variables were found, of %d", len(seen), len(core.Variables))
	}
}

func TestStatusesAreTheSameInCAndPython(t *testing.T) {
	numbers := defines(t, "JITCACHE_ERR_")
	found := regexp.MustCompile(`(?m)^(ERR_\w+) = (-\d+)$`).FindAllStringSubmatch(read(t, "python/jitcache/_ffi.py"), -1)
	for _, m := range found {
		if n, _ := strconv.Atoi(m[2]); numbers["JITCACHE_"+m[1]] != n {
			t.Errorf("JITCACHE_%s is %d in C and %d in Python", m[1], numbers["JITCACHE_"+m[1]], n)
		}
	}
	if len(found) == 0 {
		t.Error("Python has no statuses")
	}
}

func TestPythonDeclaresEveryFunction(t *testing.T) {
	ffi := read(t, "python/jitcache/_ffi.py")
	// Functions that the Python package does not need.
	unused := map[string]bool{
		"jitcache_key_set_name": true, "jitcache_key_set_kind": true, "jitcache_key_hex": true,
		"jitcache_get": true, "jitcache_get_or_compile": true,
		// The package packs a request (jitcache_cuda_request_packed), and waits for a lease by itself.
		"jitcache_cuda_request_target": true, "jitcache_cuda_request_option": true, "jitcache_cuda_request_header": true,
		"jitcache_cuda_request_expression": true, "jitcache_cuda_request_library": true, "jitcache_cuda_compile": true,
		// The package reads the attributes, and finds functions of a module that it holds.
		"jitcache_cuda_log": true, "jitcache_cuda_lowered": true, "jitcache_cuda_get_function": true,
	}
	for _, name := range functions(t) {
		if declared := strings.Contains(ffi, `"`+name+`"`); declared == unused[name] {
			t.Errorf("%s: declared in Python: %v, want %v", name, declared, !declared)
		}
	}
}

// A host in C++ needs C functions only if the manual says so.
func TestCppWrapsEveryFunction(t *testing.T) {
	text := read(t, "include/jitcache.hpp") + read(t, "include/jitcache_cuda.hpp")
	// Functions for bindings and for maintenance, and calls of C that take two objects in C++.
	unused := map[string]bool{
		"jitcache_abi_version": true, "jitcache_version": true, "jitcache_status_name": true, "jitcache_reason_name": true,
		"jitcache_key_from_digest": true, "jitcache_key_add_packed": true, "jitcache_key_save": true, "jitcache_key_load": true,
		"jitcache_get_data": true, "jitcache_get_into": true, "jitcache_get_or_compile": true, "jitcache_trim": true,
		"jitcache_clear": true, "jitcache_verify": true, "jitcache_count": true, "jitcache_stats": true,
		"jitcache_cursor_new": true, "jitcache_cursor_next": true, "jitcache_cursor_free": true, "jitcache_explain": true, "jitcache_flush": true, "jitcache_epoch": true, "jitcache_used": true,
		"jitcache_set_log": true, "jitcache_last_miss": true, "jitcache_cuda_request_packed": true,
		"jitcache_cuda_key": true, "jitcache_cuda_get_function": true,
		// It does not say whether it was a hit; cuda::Request::compile does.
		"jitcache_cuda_compile": true,
		// Small enough as it is.
		"jitcache_native_request_new": true, "jitcache_native_request_add": true, "jitcache_native_request_free": true,
		"jitcache_native_key": true, "jitcache_native_lookup": true, "jitcache_native_last_log": true,
		"jitcache_native_build": true, "jitcache_native_start": true, "jitcache_native_step": true,
		"jitcache_native_job_free": true, "jitcache_native_record_key": true, "jitcache_native_process_key": true,
	}
	text = regexp.MustCompile(`//.*`).ReplaceAllString(text, "")
	for _, name := range functions(t) {
		if wrapped := regexp.MustCompile(`\b` + name + `\b`).MatchString(text); wrapped == unused[name] {
			t.Errorf("%s: wrapped in C++: %v, want %v", name, wrapped, !wrapped)
		}
	}
}

func TestVersionIsOne(t *testing.T) {
	want := regexp.MustCompile(`#define JITCACHE_VERSION "(.*)"`).FindStringSubmatch(read(t, "include/jitcache.h"))[1]
	for name, pattern := range map[string]string{
		"python/jitcache/_version.py": `__version__ = "(.*)"`,
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

// documented returns the table of rooms in ARCHITECTURE.md, and the rooms of the list
// above the table, in order.
func documented(t *testing.T) (table map[string][]string, list []string) {
	t.Helper()
	text := read(t, "ARCHITECTURE.md")
	_, rows, ok := strings.Cut(text, "| room | may use |\n| --- | --- |\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of rooms")
	}
	table = map[string][]string{}
	for line := range strings.Lines(rows) {
		row := strings.Split(strings.TrimSpace(line), "|")
		if len(row) != 4 {
			break
		}
		room, below := strings.TrimSpace(row[1]), strings.TrimSpace(row[2])
		if _, twice := table[room]; twice {
			t.Errorf("ARCHITECTURE.md has two rows for %s", room)
		}
		table[room] = strings.Split(below, ", ")
		if below == "nothing" {
			table[room] = nil
		}
	}
	_, block, _ := strings.Cut(text, "```\n")
	block, _, _ = strings.Cut(block, "```\n")
	for line := range strings.Lines(block) {
		room := strings.TrimSuffix(strings.Fields(line)[0], "/")
		if sources, _ := filepath.Glob(filepath.Join(root(t), room, "*.go")); len(sources) > 0 {
			list = append(list, room)
		}
	}
	return table, list
}

func TestTableOfRoomsIsThatOfTheDocument(t *testing.T) {
	table, _ := documented(t)
	for room, want := range uses {
		got, ok := table[room]
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(want)); !ok {
			t.Errorf("ARCHITECTURE.md has no row for %s", room)
		} else if !slices.Equal(got, want) {
			t.Errorf("%s may use %v; in ARCHITECTURE.md: %v", room, want, got)
		}
	}
	for room := range table {
		if _, ok := uses[room]; !ok {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is no room", room)
		}
	}
}

func TestRoomsStandAboveWhatTheyUse(t *testing.T) {
	_, list := documented(t)
	for room, below := range uses {
		at := slices.Index(list, room)
		if at < 0 {
			t.Errorf("%s is not in the list of ARCHITECTURE.md", room)
		}
		for _, other := range below {
			if slices.Index(list, other) < at {
				t.Errorf("%s uses %s, which stands above it", room, other)
			}
		}
	}
	for _, room := range list {
		if _, ok := uses[room]; !ok {
			t.Errorf("ARCHITECTURE.md lists %s, which the table does not have", room)
		}
	}
}
