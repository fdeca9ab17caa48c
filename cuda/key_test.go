package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/request"
)

// project is a folder of sources and a cache of manifests. It has a file in the
// place of NVRTC: a key needs to know what it is, and nothing more.
type project struct {
	*testing.T
	folder string
	saved  map[key.ID][]byte
	reads  int
}

func newProject(t *testing.T) *project {
	p := &project{T: t, folder: t.TempDir(), saved: map[key.ID][]byte{}}
	p.write("libnvrtc.so.13", "version 1")
	forgetAll()
	return p
}

// forgetAll is what another process begins with.
func forgetAll() {
	records = request.NewTable[[2]key.Digest, *record](maxRecords)
	templates = request.NewTable[key.Digest, *template](maxTemplates)
}

func (p *project) LoadManifests(id *key.ID) []byte       { p.reads++; return p.saved[*id] }
func (p *project) SaveManifests(k *key.Key, data []byte) { p.saved[k.ID] = data }

// write replaces a file, with a time stamp old enough to prove something.
func (p *project) write(name, text string) string {
	p.Helper()
	path := filepath.Join(p.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+"~", []byte(text), 0o644), os.Rename(path+"~", path)); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *project) request(source string, parts ...string) *Request {
	all := part('n', filepath.Join(p.folder, "libnvrtc.so.13")) + part('o', "-arch=sm_80") + part('o', "-I"+p.folder) + strings.Join(parts, "")
	return &Request{
		Source: []byte(source), SourceDigest: key.Sum([]byte(source)),
		Parts: []byte(all), PartsDigest: key.Sum([]byte(all)),
	}
}

func (p *project) key(source string, parts ...string) key.ID {
	p.Helper()
	k, err := p.request(source, parts...).Key(p)
	if err != nil {
		p.Fatal(err)
	}
	return k.ID
}

const simple = "__global__ void k() {}"

func TestAllThatMattersChangesTheKey(t *testing.T) {
	p := newProject(t)
	ids := []key.ID{p.key(simple)}
	for _, parts := range [][]string{
		{part('T', "ptx")},
		{part('o', "-G")},
		{part('o', "-arch=sm_90")},
		{part('e', "k<int>")},
		{part('N', "other.cu")},
		{part('h', "a.h"), part('t', "")},
		{part('h', "a.h"), part('t', "x")},
		{part('o', "-DA")},
	} {
		ids = append(ids, p.key(simple, parts...))
	}
	ids = append(ids, p.key(simple+" "))
	p.write("libnvrtc.so.13", "version 2")
	ids = append(ids, p.key(simple))
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			t.Errorf("request %d has the key of an earlier one", i)
		}
	}
}

func TestWhatDoesNotMatterDoesNot(t *testing.T) {
	p := newProject(t)
	want := p.key(simple, part('e', "a"), part('e', "b"))
	for _, parts := range [][]string{
		{part('e', "b"), part('e', "a")},
		{part('e', "a"), part('e', "b"), part('e', "a")},
		{part('e', "a"), part('e', "b"), part('o', "--no-cache")},
		{part('e', "a"), part('e', "b"), part('N', "folder/kernel.cu")},
		{part('e', "a"), part('e', "b"), part('d', "/a/driver")},
		{part('e', "a"), part('e', "b"), part('o', "-I/elsewhere")},
	} {
		if p.key(simple, parts...) != want {
			t.Errorf("%q: another key", parts)
		}
	}
	if p.key(simple, part('T', "ltoir")) != p.key(simple, part('T', "ltoir"), part('o', "-dlto")) {
		t.Error("what LTO-IR implies makes another key")
	}
	other := newProject(t) // the same NVRTC in another folder
	if other.key(simple, part('e', "a"), part('e', "b")) != want {
		t.Error("a copy of the tree has another key")
	}
}

func TestPathsCountWhereTheResultShowsThem(t *testing.T) {
	for _, parts := range [][]string{{part('o', "-lineinfo")}, {part('o', "-G")}, {}} {
		source := "#include \"a.h\"\n"
		if len(parts) == 0 {
			source += "const char *f = __FILE__;"
		}
		p, q := newProject(t), newProject(t)
		p.write("a.h", "")
		q.write("a.h", "")
		if p.key(source, parts...) == q.key(source, parts...) {
			t.Errorf("%q: the key of a tree elsewhere is the same", parts)
		}
		if p.key(source, append(parts, part('N', "x/kernel.cu"))...) == p.key(source, append(parts, part('N', "y/kernel.cu"))...) {
			t.Errorf("%q: the folder of the source does not count", parts)
		}
	}
}

func TestWorkingFolderCountsWhereTheResultShowsIt(t *testing.T) {
	p := newProject(t)
	for option, counts := range map[string]bool{"-lineinfo": true, "-G": true, "-w": false} {
		t.Chdir(p.folder)
		here := p.key(simple, part('o', option))
		t.Chdir(filepath.Dir(p.folder))
		if changed := p.key(simple, part('o', option)) != here; changed != counts {
			t.Errorf("%s: another working folder is another key: %v", option, changed)
		}
	}
}

func TestEditedHeaderChangesTheKeyAndBack(t *testing.T) {
	p := newProject(t)
	const source = "#include \"a.h\"\n"
	p.write("a.h", "1")
	one := p.key(source)
	p.write("a.h", "2")
	two := p.key(source)
	p.write("a.h", "1")
	if back := p.key(source); one == two || back != one {
		t.Errorf("keys %v, %v, %v", one, two, back)
	}
	forgetAll()
	if p.key(source) != one {
		t.Error("another process has another key")
	}
}

func TestHeaderThatAppearsChangesTheKey(t *testing.T) {
	p := newProject(t)
	const source = "#if __has_include(\"a.h\")\n#endif\n"
	one := p.key(source)
	p.write("a.h", "")
	if p.key(source) == one {
		t.Error("a header that was looked for in vain appeared, and the key is the same")
	}
}

func TestUnchangedClosureIsReadFromTheCacheOnce(t *testing.T) {
	p := newProject(t)
	const source = "#include \"a.h\"\n"
	path := p.write("a.h", "#include \"b.h\"\n")
	p.write("b.h", "")
	old := time.Now().Add(-time.Hour)
	os.Chtimes(path, old, old)
	one := p.key(source)
	if len(p.saved) != 1 {
		t.Fatalf("%d sets of manifests", len(p.saved))
	}
	forgetAll()
	p.reads = 0
	for range 10 {
		if p.key(source) != one {
			t.Fatal("another key")
		}
	}
	if p.reads != 1 {
		t.Errorf("the cache was read %d times", p.reads)
	}
}

func TestDamagedManifestsAreMadeAgain(t *testing.T) {
	p := newProject(t)
	const source = "#include \"a.h\"\n"
	p.write("a.h", "")
	one := p.key(source)
	for id := range p.saved {
		p.saved[id] = []byte("nonsense")
	}
	forgetAll()
	if p.key(source) != one {
		t.Error("another key")
	}
	for _, data := range p.saved {
		if string(data) == "nonsense" {
			t.Error("the manifests are as they were")
		}
	}
}

func TestWhatCannotBeKeyedIsRefused(t *testing.T) {
	p := newProject(t)
	for source, parts := range map[string]string{
		simple:                      part('o', "--time=x"),
		"const char *t = __TIME__;": "",
		"const char *t = __DATE__;": "",
		simple + " ":                part('o', "--use-pch=/not/there"),
	} {
		_, err := p.request(source, parts).Key(p)
		if err == nil || FaultOf(err) != CannotBeKeyed {
			t.Errorf("%q %q: %v", source, parts, err)
		}
	}
}

func TestMissingCompilerIsAnErrorThatNamesIt(t *testing.T) {
	p := newProject(t)
	r := p.request(simple, part('n', "/not/there/libnvrtc.so"))
	if _, err := r.Key(p); err == nil || FaultOf(err) != NoLibrary || !strings.Contains(err.Error(), "/not/there/libnvrtc.so") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	p := newProject(t)
	for i := range 2 * maxRecords {
		p.key(simple + strings.Repeat(" ", i))
		p.key(simple, part('o', "-DI="+strings.Repeat("1", i)))
	}
	if records.Len() > maxRecords || templates.Len() > maxTemplates {
		t.Errorf("%d records and %d templates are kept", records.Len(), templates.Len())
	}
}
