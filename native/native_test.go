package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// memory is a cache of manifests in memory.
type memory map[key.ID][]byte

func (m memory) LoadManifests(id *key.ID) []byte { return m[*id] }

func (m memory) SaveManifests(k *key.Key, data []byte) { m[k.ID] = bytes.Clone(data) }

func packed(parts ...string) *Request {
	var b []byte
	for _, p := range parts {
		b = append(b, p[0])
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p)-1))
		b = append(b, p[1:]...)
	}
	return &Request{Parts: b, Digest: key.Sum(b)}
}

// compiler is a stand-in that answers questions as gcc does.
type compiler struct {
	t       *testing.T
	path    string
	version string
	machine string // what -march=native means
	folders []string
	reads   []string
	asked   int
	reading func() // when it is asked for files
}

func newCompiler(t *testing.T) *compiler {
	t.Helper()
	dir := t.TempDir()
	c := &compiler{t: t, path: filepath.Join(dir, "cc"), version: "gcc version 12", machine: "-march=haswell"}
	c.write(c.path, "a compiler")
	c.folders = []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	c.write(filepath.Join(dir, "b", "h.h"), "#define V 1\n")
	c.reads = []string{"x.c", filepath.Join(dir, "b", "h.h")}
	if err := os.Mkdir(c.folders[0], 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *compiler) write(path, text string) {
	c.t.Helper()
	os.MkdirAll(filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		c.t.Fatal(err)
	}
}

// key asks for a key until there is one, in a process of its own.
func (c *compiler) key(cache manifest.Cache, parts ...string) *key.Key {
	c.t.Helper()
	records = request.NewTable[key.Digest, *record](maxRecords)
	return c.again(cache, parts...)
}

func (c *compiler) again(cache manifest.Cache, parts ...string) *key.Key {
	c.t.Helper()
	r := packed(append([]string{"c" + c.path, "sx.c", "t#include <h.h>\nint f = V;\n"}, parts...)...)
	for range 8 {
		k, q, err := r.Key(cache)
		if err != nil {
			c.t.Fatal(err)
		}
		if q == nil {
			return k
		}
		c.asked++
		out, log := "x.o: "+strings.Join(c.reads, " \\\n  ")+"\n", ""
		if q.About == "" && c.reading != nil {
			c.reading()
		}
		if q.About != "" {
			log = c.version + "\nTarget: here\n /lib/cc1 -E " + c.machine + " /dev/null\n" +
				"#include \"...\" search starts here:\n#include <...> search starts here:\n " + strings.Join(c.folders, "\n ") + "\nEnd of search list.\n"
			log = strings.Replace(log, "/lib/cc1", c.path+"/../cc1", 1)
			c.write(filepath.Dir(c.path)+"/cc1", "the compiler proper")
			log = strings.Replace(log, c.path+"/../cc1", filepath.Dir(c.path)+"/cc1", 1)
		}
		if err := r.Answer(q, 0, []byte(out), []byte(log), cache); err != nil {
			c.t.Fatal(err)
		}
	}
	c.t.Fatal("no key after eight questions")
	return nil
}

func TestNextProcessAsksNothing(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	first := c.key(cache)
	asked := c.asked
	if asked != 2 && asked != 3 { // the header is so new that it may have changed meanwhile
		t.Errorf("%d questions, want 2 or 3", asked)
	}
	if second := c.key(cache); second.ID != first.ID || c.asked != asked {
		t.Errorf("another key, or %d questions more", c.asked-asked)
	}
}

// What the compiler says is of one state of the files, and what is read after it
// may be of another, in which more is included.
func TestHeaderThatChangesWhileTheCompilerReadsIsAskedForAgain(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	more := filepath.Join(c.folders[1], "more.h")
	c.reading = func() {
		c.reading = nil
		c.write(more, "#define V 3\n")
		c.write(c.reads[1], "#include \"more.h\"\n")
		c.reads = append(c.reads, more) // the next time it reads this too
	}
	first := c.key(cache)
	c.write(more, "#define V 4\n")
	if second := c.key(cache); second.ID == first.ID {
		t.Error("the same key, although what is included has changed")
	}
}

func TestHeaderThatAppearsInFrontIsNoticed(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	first := c.key(cache)
	front := filepath.Join(c.folders[0], "h.h")
	c.write(front, "#define V 2\n")
	c.reads[1] = front
	if second := c.key(cache); second.ID == first.ID {
		t.Error("the same key")
	}
}

func TestHeaderThatChangesIsNoticed(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	first := c.key(cache)
	c.write(c.reads[1], "#define V 2\n")
	if second := c.key(cache); second.ID == first.ID {
		t.Error("the same key")
	}
	c.write(c.reads[1], "#define V 1\n")
	if third := c.key(cache); third.ID != first.ID {
		t.Error("another key for what was there before")
	}
}

// clang reads configuration files from version 16 on, and says so.
func TestConfigurationThatAppearsAndChangesIsNoticed(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	file := filepath.Join(filepath.Dir(c.path), "clang.cfg")
	c.version = "clang version 17\nInstalledDir: " + filepath.Dir(c.path)
	seen := map[key.ID]string{}
	for _, text := range []string{"", "-O1", "-O3", ""} {
		if text == "" {
			os.Remove(file)
			c.version = "clang version 17\nInstalledDir: " + filepath.Dir(c.path)
		} else {
			c.write(file, text)
			c.version = "clang version 17\nConfiguration file: " + file + "\nInstalledDir: " + filepath.Dir(c.path)
		}
		id := c.key(cache).ID
		if before, ok := seen[id]; ok && before != text {
			t.Errorf("the key of %q is that of %q", text, before)
		}
		seen[id] = text
	}
	if len(seen) != 3 {
		t.Errorf("%d keys, want 3", len(seen))
	}
}

// What a compiler says of itself must not be put together with another's files.
func TestCompilerThatIsReplacedWhileItIsAskedIsAskedAgain(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	records = request.NewTable[key.Digest, *record](maxRecords)
	r := packed("c"+c.path, "sx.c", "tint x;", "kobject")
	_, q, err := r.Key(cache)
	if err != nil || q == nil || q.About != "c" {
		t.Fatalf("%+v, %v", q, err)
	}
	log := "gcc version 12\nTarget: here\n#include <...> search starts here:\n " + c.folders[1] + "\nEnd of search list.\n"
	if err := r.Answer(q, 0, nil, []byte(log), cache); err != nil {
		t.Fatal(err)
	}
	c.write(c.path, "a newer compiler")
	if _, q, err := r.Key(cache); err != nil || q == nil || q.About != "c" {
		t.Errorf("%+v, %v; want the question what the compiler is", q, err)
	}
}

func TestProgramThatIsGoneIsNoErrorForEver(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	records = request.NewTable[key.Digest, *record](maxRecords)
	r := packed("c"+c.path, "sx.c", "tint x;", "kobject")
	_, q, _ := r.Key(cache)
	part := filepath.Join(filepath.Dir(c.path), "cc1")
	c.write(part, "the compiler proper")
	log := "gcc version 12\nTarget: here\n " + part + " /dev/null\n#include <...> search starts here:\n " + c.folders[1] + "\nEnd of search list.\n"
	if err := r.Answer(q, 0, nil, []byte(log), cache); err != nil {
		t.Fatal(err)
	}
	os.Remove(part)
	var refused *request.Refused
	if _, q, err := r.Key(cache); q != nil || !errors.As(err, &refused) {
		t.Errorf("%+v, %v; want a refusal", q, err)
	}
	if _, q, err := r.Key(cache); err != nil || q == nil || q.About != "c" {
		t.Errorf("%+v, %v; want the question what the compiler is", q, err)
	}
}

// A key goes by stamps when its result is stored, and then must have the new ones.
func TestKeyHasTheStampsOfAHeaderThatWasTouched(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	first := c.key(cache)
	now := time.Now().Add(time.Hour)
	if err := os.Chtimes(c.reads[1], now, now); err != nil {
		t.Fatal(err)
	}
	second := c.again(cache)
	if second.ID != first.ID {
		t.Error("another key for what was touched only")
	}
	for i := range second.Inputs {
		if why, changed := second.Inputs[i].Changed(); changed {
			t.Error(why)
		}
	}
}

// A result for a richer processor must never reach a poorer one; manifests of the
// one, on a shared disk, must not either.
func TestNativeIsWhatTheProcessorIs(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	rich := c.key(cache, "o-march=native", "urich")
	c.machine = "-march=x86-64"
	poor := c.key(cache, "o-march=native", "upoor")
	if rich.ID == poor.ID {
		t.Error("two processors have one key")
	}
	asked := c.asked
	c.machine = "-march=haswell"
	if again := c.key(cache, "o-march=native", "urich"); again.ID != rich.ID || c.asked != asked {
		t.Error("the first processor's key was lost")
	}
}

func TestCompilerThatIsReplacedIsAsked(t *testing.T) {
	c, cache := newCompiler(t), memory{}
	first := c.key(cache)
	c.write(c.path, "another compiler")
	second := c.key(cache)
	if second.ID == first.ID {
		t.Error("the same key")
	}
}

func TestKeyHasNoPathsOfCompilerAndHeaders(t *testing.T) {
	if a, b := newCompiler(t).key(nil), newCompiler(t).key(nil); a.ID != b.ID {
		t.Errorf("two keys of one compile in two places:\n%v\n%v", a.Parts, b.Parts)
	}
}

func TestRulesAreReadAsMakeReadsThem(t *testing.T) {
	for text, want := range map[string][][]string{
		"x.o: x.c":                     {{"x.c"}},
		"x.o: x.c a.h \\\n  b.h\n":     {{"x.c", "a.h", "b.h"}},
		"x.o: x.c \\\r\n b.h\r\n":      {{"x.c", "b.h"}},
		"x.o : a\\ b.h c\\#d $$e\n":    {{"a b.h", "c#d", "$e"}},
		"a.o: a.c\nb.o: b.c\n":         {{"a.c"}, {"b.c"}},
		"a.o: C:\\x.h\n":               {{"C:\\x.h"}},
		"":                             nil,
		"x.o:":                         {nil},
		"with\\ space.o: x.c":          {{"x.c"}},
		"x.o: x.c\n\nx.h:\n":           {{"x.c"}, nil},
		"x.o: \\\n /a/b.h \\\n /c/d.h": {{"/a/b.h", "/c/d.h"}},
		"x.o: x.c\\\n\ty.h\n":          {{"x.c", "y.h"}},
	} {
		if got := rules([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, text := range []string{"x.o: x.c a.h \\\n  b.h\n", "a\\ b.o: c\\#d $$e\n", ":", "\\", "a: \\\r\n b"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, rule := range rules(text) {
			for _, file := range rule {
				if file == "" || len(file) > len(text) {
					t.Fatalf("%q of %q", file, text)
				}
			}
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{"#include <a>\n", "#if __has_include(\"b\")\n%: include_next <c>", "#include M // x\n#define M <y>", "#in\\\nclude \"", "__has_include_next", "__has_include(\"\n\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, _ := scan(text)
		for _, d := range found {
			if strings.Contains(d.name, "\n") {
				t.Fatalf("%q in %q", d.name, text)
			}
			if d.macro != "" {
				values(text, d.macro)
			}
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add(packed("ccc", "o-O2", "sx.c", "tint x;", "kshared", "xl", "yv", "eA=B").Parts)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parse(b)
		if err == nil {
			newRecord(p)
		}
	})
}

func FuzzLearn(f *testing.F) {
	f.Add(" /x/cc1 -E \"-march=a b\" \\\nTarget: x\n#include <...> search starts here:\n /usr/include\nEnd of search list.\n")
	f.Fuzz(func(t *testing.T, text string) {
		learn(text, []string{"/none"}, "", &flags{})
	})
}

func FuzzLibraries(f *testing.F) {
	f.Add("\tlinux-vdso.so.1 (0x0)\n\tlibm.so.6 => /lib/libm.so.6 (0x00007f148c864000)\n\tlibx.so => not found\n\t/lib/ld.so (0x0)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, lib := range libraries(text) {
			if !filepath.IsAbs(lib.path) || strings.Contains(lib.name+lib.path, "\n") {
				t.Fatalf("%+v in %q", lib, text)
			}
		}
	})
}

func TestLibrariesAreReadAsTheLoaderPrintsThem(t *testing.T) {
	text := "\tlinux-vdso.so.1 (0x00007f8987770000)\n\tlibz.so.1 => /lib/libz.so.1 (0x00007f148cc26000)\n" +
		"\tlibnone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f148cdb7000)\n\tlibm.so.6 => /a b/libm.so.6 (0x1)\n"
	want := []library{{"libz.so.1", "/lib/libz.so.1"}, {"libm.so.6", "/a b/libm.so.6"}}
	if got := libraries(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDirectives(t *testing.T) {
	text := "#include <a.h>\n  #  include \"b.h\" // c\n%:include <c.h>\n#include_next <d.h>\n#import <e.h>\n" +
		"#if __has_include(<f.h>) || __has_include( \"g.h\" ) || __has_include_next(<h.h>)\n#include M\n#in\\\nclude <i.h>\n#include F(x)\n#embed <j>\n"
	found, s := scan([]byte(text))
	want := []directive{
		{"a.h", angle, ""},
		{"b.h", quote, ""},
		{"c.h", angle, ""},
		{"d.h", next, ""},
		{"e.h", angle, ""},
		{"", quote, "M"},
		{"i.h", angle, ""},
		{"", quote, ""},
		{"j", angle, ""},
		{"f.h", has, ""},
		{"g.h", hasQuote, ""},
		{"h.h", hasNext, ""},
	}
	if !reflect.DeepEqual(found, want) || s.other != "" {
		t.Errorf("%v\nwant\n%v\n%v", found, want, s)
	}
	if _, s := scan([]byte("#if __has_include(M)\n")); s.other == "" {
		t.Error("__has_include of a macro was not noticed")
	}
	if _, s := scan([]byte("#ifdef __has_include\n#if defined(__has_include) && 1\n")); s.other != "" {
		t.Error(s.other)
	}
}

func TestFlagsThatCannotBeKeyedAreRefused(t *testing.T) {
	for _, flag := range []string{"-MD", "-save-temps=obj", "@file", "-fprofile-use=x", "-Wp,-MD,x", "--coverage", "-specs=x", "-ofoo", "-Wl,-Map=x", "-Wl,-T,x", "-E", "-fplugin=x", "-Xclang"} {
		if _, err := parseFlags([]string{flag, "x"}); err == nil {
			t.Errorf("%s was taken", flag)
		}
	}
	for _, flag := range []string{"-O2", "-g", "-Wl,-rpath,/x", "-fPIC", "-march=native", "-DX", "-Wno-x", "-fdiagnostics-color"} {
		if _, err := parseFlags([]string{flag}); err != nil {
			t.Error(err)
		}
	}
	if _, err := parseFlags([]string{"-Irelative"}); err == nil {
		t.Error("a relative folder was taken")
	}
}

func TestMalformedRequests(t *testing.T) {
	for _, parts := range [][]string{
		{"sx.c", "tint x;"},
		{"ccc"},
		{"ccc", "sx.h", "t"},
		{"ccc", "s../x.c", "t"},
		{"ccc", "s/x.c", "t"},
		{"ccc", "s.out", "t"},
		{"ccc", "frelative.c"},
		{"ccc", "f/x.c", "kprogram"},
		{"ccc", "f/x.c", "f/y.c", "kobject"},
		{"t"},
		{"y"},
		{"?x"},
		{"ccc", "s-x.c", "t"},
	} {
		if _, _, err := packed(parts...).Key(nil); err == nil {
			t.Errorf("%q was taken", parts)
		}
	}
}
