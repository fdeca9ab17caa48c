// Package arch checks the code against ARCHITECTURE.md: which room may use which.
package arch

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// uses has for each room the rooms that it may import, which are exactly those that it
// does import. Imports go down only. ARCHITECTURE.md has the same table.
var uses = map[string][]string{
	"core/proc":     {},
	"core/stamp":    {"core/proc"},
	"core/key":      {"core/stamp"},
	"core/blob":     {},
	"core/lockfile": {"core/proc"},
	"core/request":  {},
	"core/wildcard": {},
	"core/control":  {},
	"core/mutex":    {},
	"core/memory":   {"core/blob", "core/mutex"},
	"core/lease":    {"core/key", "core/lockfile"},
	"core/store":    {"core/key", "core/blob", "core/lockfile"},
	"core/trust":    {"core/key"},
	"core/plain":    {},
	"core/wire":     {},
	"core/remote":   {"core/key", "core/lockfile", "core/wire"},
	"core": {
		"core/key", "core/blob", "core/lockfile", "core/memory", "core/lease", "core/store", "core/trust", "core/remote",
		"core/plain",
	},
	"storage/engine":           {},
	"storage":                  {"core/key", "core/store", "core/wire", "storage/engine"},
	"storage/jitcache-storage": {"storage"},
	"cuda/dl":                  {"core/mutex"},
	"cuda/cudatest/host":       {},
	"cuda/nvrtc":               {"core/blob"},
	"cuda/date":                {},
	"cuda/worker":              {"core/key", "core/lockfile", "core/proc", "core/request", "observe", "record"},
	"cuda/driver":              {"cuda/dl"},
	"cuda": {
		"core", "core/key", "core/blob", "core/request", "observe", "record", "command", "cuda/dl", "cuda/date", "cuda/nvrtc", "cuda/worker",
		"cuda/driver",
	},
	"observe":             {},
	"observe/observetest": {"observe"},
	"record":              {"core/key", "core/stamp", "core/request", "observe", "record/cpu", "core/limits", "core/proc", "core/wildcard"},
	"record/cpu":          {"core/cpuid"},
	"command":             {"core", "core/lockfile", "core/blob", "core/key", "core/request", "core/store", "observe", "record"},
	"native":              {"command", "core/key", "core/request"},
	"bundle":              {"core", "core/blob", "core/key", "core/store", "record"},
	"cli/report":          {"core", "core/store"},
	"cli":                 {"cli/report", "core", "core/lease", "core/plain", "core/store", "core/trust", "core/wildcard", "cuda/dl", "launch/project"},
	"launch":              {"core", "core/blob", "core/key", "core/proc", "core/request", "core/store", "observe", "record"},
	"cli/bundles":         {"bundle", "cli", "core", "core/blob", "core/key", "core/store"},
	"cli/jitcache":        {"cli", "launch", "launch/project"},
	"launch/project":      {},
	"core/cpuid":          {},
	"core/limits":         {"core/limits/began"},
	"core/limits/began":   {},
	"capi":                {"core", "core/key", "core/blob", "core/memory", "core/store", "observe", "command", "cuda", "native"},
}

// cpuid is the module that core/cpuid replaces (go.mod).
const cpuid = "github.com/klauspost/cpuid/v2"

// confined has for each third-party package the room or file that may import it.
var confined = map[string][]string{
	"lukechampine.com/blake3":             {"core/key/"},
	"lukechampine.com/blake3/guts":        {"core/key/"},
	"github.com/gofrs/flock":              {"core/lockfile/"},
	"github.com/klauspost/compress/zstd":  {"bundle/", "storage/object.go"},
	"github.com/mattn/go-pointer":         {"capi/pointer.go"},
	"github.com/zeebo/xxh3":               {"core/store/"},
	"golang.org/x/sys/unix":               {"core/store/", "core/remote/", "storage/", "core/lockfile/", "core/proc/", "core/stamp/", "cli/", "cuda/", "launch/", "observe/", "record/"},
	"github.com/peterbourgon/ff/v3/ffcli": {"cli/"},
	"github.com/pelletier/go-toml/v2":     {"launch/project/"},
	// These are in jitcache-storage, which is not part of the library.
	"github.com/redis/go-redis/v9":                 {"storage/engine/redis.go"},
	"github.com/minio/minio-go/v7":                 {"storage/engine/s3.go"},
	"github.com/minio/minio-go/v7/pkg/credentials": {"storage/engine/s3.go"},
}

// banned are packages of Go's standard library that must not be in the library.
// jitcache-storage, a process of its own, may have them.
var banned = map[string]string{
	"os/signal": "the host's signals are the host's",
	"net/http":  "4 MB in every forked child",
	"log":       "the library prints nothing unless asked to",
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tops returns the top folders of rooms: all folders with Go files, without tests.
func tops(t *testing.T) (found []string) {
	t.Helper()
	dirs, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		sources, _ := filepath.Glob(filepath.Join(root(t), d.Name(), "*.go"))
		below, _ := filepath.Glob(filepath.Join(root(t), d.Name(), "*", "*.go"))
		if d.Name()[0] != '.' && d.Name() != "build" && d.Name() != "tests" && len(sources)+len(below) > 0 {
			found = append(found, d.Name())
		}
	}
	return found
}

// imports calls fn for every import of every Go file that is not a test.
func imports(t *testing.T, fn func(file, imported string)) {
	t.Helper()
	top := root(t)
	for _, dir := range tops(t) {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(top, path)
			for _, i := range f.Imports {
				name, _ := strconv.Unquote(i.Path.Value)
				if name == cpuid {
					name = "jitcache/core/cpuid"
				}
				fn(rel, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRoomsUseOnlyWhatIsBelowThem(t *testing.T) {
	seen := map[string][]string{}
	imports(t, func(file, imported string) {
		room := filepath.ToSlash(filepath.Dir(file))
		below, ok := strings.CutPrefix(imported, "jitcache/")
		seen[room] = append(seen[room], below)
		if !ok {
			return
		}
		if below == "core/control" && filepath.Base(file) == "controls_off.go" {
			return // see TestOnlyControlFilesAreBuiltForControls
		}
		if allowed, known := uses[room]; !known || !slices.Contains(allowed, below) {
			t.Errorf("%s imports %s, which the table does not allow", file, below)
		}
	})
	for room, below := range uses {
		if seen[room] == nil {
			t.Errorf("the table has a room %s that does not exist", room)
		}
		for _, other := range below {
			if !slices.Contains(seen[room], other) {
				t.Errorf("the table lets %s use %s, and it does not", room, other)
			}
		}
	}
	for room := range seen {
		if _, known := uses[room]; !known {
			t.Errorf("room %s is not in the table", room)
		}
	}
}

func TestTableHasNoCircle(t *testing.T) {
	var visit func(room string, path []string)
	visit = func(room string, path []string) {
		if slices.Contains(path, room) {
			t.Fatalf("circle: %v", append(path, room))
		}
		for _, below := range uses[room] {
			visit(below, append(slices.Clone(path), room))
		}
	}
	for room := range uses {
		visit(room, nil)
	}
}

func TestPackagesOfOthersAreConfined(t *testing.T) {
	used := map[string]bool{}
	imports(t, func(file, imported string) {
		if why, bad := banned[imported]; bad && !strings.HasPrefix(filepath.ToSlash(file), "storage/") {
			t.Errorf("%s imports %s: %s", file, imported, why)
		}
		if !strings.Contains(strings.Split(imported, "/")[0], ".") {
			return
		}
		used[imported] = true
		rooms, known := confined[imported]
		if !known || !slices.ContainsFunc(rooms, func(p string) bool { return strings.HasPrefix(filepath.ToSlash(file), p) }) {
			t.Errorf("%s imports %s, which belongs to %v", file, imported, rooms)
		}
	})
	for name := range confined {
		if !used[name] {
			t.Errorf("%s is in the table and used by nobody", name)
		}
	}
}

// go.mod must not name modules that the table does not know.
func TestModulesAreThoseOfTheTable(t *testing.T) {
	cmd := exec.Command("go", "list", "-m", "-json", "all")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	direct := []string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var m struct {
			Path           string
			Main, Indirect bool
		}
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if !m.Main && !m.Indirect && m.Path != cpuid {
			direct = append(direct, m.Path)
		}
	}
	for _, m := range direct {
		if !slices.ContainsFunc(slices.Collect(keys(confined)), func(p string) bool { return strings.HasPrefix(p, m) }) {
			t.Errorf("go.mod requires %s, which no room may use", m)
		}
	}
}

func keys(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A file that is too long should be two files. The headers may be longer, because they are
// manuals, and so may tests, because they have tables.
func TestFilesAreShort(t *testing.T) {
	const limit = 450
	top := root(t)
	for _, dir := range append([]string{"python", "build_library.py", "hatch_build.py"}, tops(t)...) {
		filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			switch filepath.Ext(path) {
			case ".go", ".c", ".h", ".py":
			default:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			if n := strings.Count(string(text), "\n"); n > limit {
				t.Errorf("%s has %d lines, want at most %d", path, n, limit)
			}
			return nil
		})
	}
}

// The repository names nothing outside the project.
func TestNoNamesOfMachinesOrRegistries(t *testing.T) {
	top := root(t)
	cmd := exec.Command("git", "ls-files", "-co", "--exclude-standard")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		t.Skip("no git here")
	}
	words := []string{"/wo" + "rk/", "pypi." + "org", "proxy.golang" + ".org", "pythonhosted" + ".org", "/ro" + "ot/"}
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil || strings.HasSuffix(name, ".png") {
			continue
		}
		for _, w := range words {
			if strings.Contains(string(text), w) {
				t.Errorf("%s names %q", name, w)
			}
		}
	}
}
