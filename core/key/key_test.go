// What makes two keys differ, and what does not.

package key

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func seal(t testing.TB, add ...string) *Key {
	t.Helper()
	b := NewBuilder()
	for i := 0; i < len(add); i += 2 {
		if err := b.Add(add[i], []byte(add[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestOrderOfComponentsDoesNotMatter(t *testing.T) {
	a := seal(t, "source", "x", "arch", "sm_90", "options", "-O3")
	b := seal(t, "options", "-O3", "source", "x", "arch", "sm_90")
	if a.ID != b.ID {
		t.Errorf("%v and %v differ", a.ID, b.ID)
	}
}

func TestDifferentComponentsGiveDifferentKeys(t *testing.T) {
	keys := map[ID]string{}
	for name, add := range map[string][]string{
		"none":             nil,
		"empty value":      {"a", ""},
		"one":              {"a", "x"},
		"other value":      {"a", "y"},
		"other label":      {"b", "x"},
		"moved boundary 1": {"ab", "c"},
		"moved boundary 2": {"a", "bc"},
		"two":              {"a", "x", "b", "y"},
		"two joined":       {"a", "xby"},
		"swapped":          {"a", "y", "b", "x"},
	} {
		id := seal(t, add...).ID
		if other, ok := keys[id]; ok {
			t.Errorf("%s and %s have the same key", name, other)
		}
		keys[id] = name
	}
}

func TestTagIsPartOfTheKey(t *testing.T) {
	keys := map[ID]Tag{}
	for _, tag := range []Tag{Bytes, None, Bool, Int, Float, List, Dict, Set, File, Tool} {
		b := NewBuilder()
		if err := b.AddTagged("v", tag, []byte{1}); err != nil {
			t.Fatal(err)
		}
		k, _ := b.Seal()
		if other, ok := keys[k.ID]; ok {
			t.Errorf("tags %q and %q give the same key", tag, other)
		}
		keys[k.ID] = tag
	}
}

func TestNameAndKindAreNotPartOfTheKey(t *testing.T) {
	b := NewBuilder()
	b.Add("a", []byte("x"))
	b.SetName("saxpy")
	b.SetKind("cubin")
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if want := seal(t, "a", "x").ID; k.ID != want {
		t.Errorf("key %v, want %v", k.ID, want)
	}
}

func TestMisuseOfABuilderIsAnError(t *testing.T) {
	for name, use := range map[string]func(*Builder) error{
		"empty label":    func(b *Builder) error { return b.Add("", nil) },
		"long label":     func(b *Builder) error { return b.Add(strings.Repeat("x", MaxLabel+1), nil) },
		"unknown tag":    func(b *Builder) error { return b.AddTagged("a", 'z', nil) },
		"long name":      func(b *Builder) error { return b.SetName(strings.Repeat("x", MaxName+1)) },
		"name with NUL":  func(b *Builder) error { return b.SetName("a\x00b") },
		"empty kind":     func(b *Builder) error { return b.SetKind("") },
		"long kind":      func(b *Builder) error { return b.SetKind("seventeen-letters") },
		"kind with case": func(b *Builder) error { return b.SetKind("Cubin") },
		"missing file":   func(b *Builder) error { return b.AddFile("f", "/does/not/exist") },
		"folder":         func(b *Builder) error { return b.AddFile("f", "/") },
		"short hashed":   func(b *Builder) error { return b.AddPacked(AppendPacked(nil, "a", Bytes|0x80, make([]byte, 39))) },
		"unknown hashed": func(b *Builder) error { return b.AddPacked(AppendPacked(nil, "a", 0xff, make([]byte, 40))) },
		"short packed":   func(b *Builder) error { return b.AddPacked([]byte{'b', 1}) },
		"long packed": func(b *Builder) error {
			return b.AddPacked(append(AppendPacked(nil, "a", Bytes, nil)[:3], 255, 0, 0, 0, 0, 0, 0, 255, 'a'))
		},
		"label twice": func(b *Builder) error {
			if err := errors.Join(b.Add("a", nil), b.Add("a", nil)); err != nil {
				t.Errorf("label twice: %v, before Seal", err)
			}
			_, err := b.Seal()
			return err
		},
		"too many components": func(b *Builder) error {
			for i := range MaxParts {
				if err := b.Add(fmt.Sprint(i), nil); err != nil {
					t.Errorf("component %d of %d: %v", i, MaxParts, err)
				}
			}
			return b.Add("one more", nil)
		},
	} {
		b := NewBuilder()
		err := use(b)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error of several lines: %v", name, err)
		}
		// Otherwise nobody would notice: the key would be that of fewer components.
		if _, again := b.Seal(); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Seal says %v, want %v", name, again, err)
		}
	}
}

func TestPackedComponentsAreTheSameKey(t *testing.T) {
	var p []byte
	p = AppendPacked(p, "source", Bytes, pattern(3000))
	p = AppendPacked(p, "flag", Bool, []byte{1})
	b := NewBuilder()
	if err := b.AddPacked(p); err != nil {
		t.Fatal(err)
	}
	got, _ := b.Seal()
	b = NewBuilder()
	b.AddTagged("flag", Bool, []byte{1})
	b.Add("source", pattern(3000))
	want, _ := b.Seal()
	if got.ID != want.ID {
		t.Errorf("key %v, want %v", got.ID, want.ID)
	}
}

func TestSealedKeyComesBackWhole(t *testing.T) {
	b := NewBuilder()
	b.Add("source", []byte("x"))
	b.Add("arch", []byte("y"))
	b.SetName("stokes residual é")
	b.SetKind("native")
	if err := b.AddTool("compiler", "/bin/sh"); err != nil {
		t.Fatal(err)
	}
	_, names, stamp, err := ReadNames("/")
	if err != nil {
		t.Fatal(err)
	}
	b.AddInput(NewAbsent("/no/such/header.h"))
	b.AddInput(Input{Path: "/", Tag: Folder, Stamp: stamp, Value: names})
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	sealed := k.Append(nil)
	back, err := ParseSealed(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if back.ID != k.ID || back.Name != k.Name || back.Kind != k.Kind || !slices.Equal(back.Parts, k.Parts) || !slices.Equal(back.Inputs, k.Inputs) {
		t.Errorf("came back as %+v, was %+v", back, k)
	}
	if !bytes.Equal(back.Append(nil), sealed) {
		t.Error("sealed again it differs")
	}
	for n := range sealed {
		if _, err := ParseSealed(sealed[:n]); err == nil {
			t.Errorf("the first %d of %d bytes parse", n, len(sealed))
		}
	}
	if _, err := ParseSealed(append(sealed, 0)); err == nil {
		t.Error("with a byte behind it parses")
	}
}

func TestChangedNamesTheLabels(t *testing.T) {
	old := seal(t, "a", "1", "b", "2", "d", "4")
	changed, added, removed := seal(t, "a", "1", "b", "x", "c", "3").Changed(old.Parts)
	if !slices.Equal(changed, []string{"b"}) || !slices.Equal(added, []string{"c"}) || !slices.Equal(removed, []string{"d"}) {
		t.Errorf("changed %v, added %v, removed %v", changed, added, removed)
	}
}

func TestParseIDReadsWhatStringPrints(t *testing.T) {
	id := seal(t, "a", "x").ID
	if got, err := ParseID(id.String()); err != nil || got != id {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseID(strings.ToUpper(id.String())); err != nil || got != id {
		t.Errorf("upper case: %v, %v", got, err)
	}
	for _, bad := range []string{"", "ab", strings.Repeat("g", 64), id.String() + "0"} {
		if _, err := ParseID(bad); err == nil {
			t.Errorf("%q parses", bad)
		}
	}
}

func FuzzParseSealed(f *testing.F) {
	f.Add(seal(f, "a", "x", "b", "y").Append(nil))
	b := NewBuilder()
	b.SetName("n")
	b.AddFile("sh", "/bin/sh")
	k, _ := b.Seal()
	f.Add(k.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ParseSealed(data)
		if err != nil {
			return
		}
		if again := k.Append(nil); !bytes.Equal(again, data) {
			t.Errorf("parses, but seals to other bytes:\n%x\n%x", data, again)
		}
	})
}

func TestValueHashedBeforeGivesTheSameKey(t *testing.T) {
	value := pattern(5000)
	sum := Sum(value)
	before := append(binary.LittleEndian.AppendUint64(nil, uint64(len(value))), sum[:]...)
	var keys []ID
	for _, p := range [][]byte{
		AppendPacked(nil, "source", Bytes, value),
		AppendPacked(nil, "source", Bytes|0x80, before),
		AppendPacked(nil, "source", Set|0x80, before),
	} {
		b := NewBuilder()
		if err := b.AddPacked(p); err != nil {
			t.Fatal(err)
		}
		k, err := b.Seal()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k.ID)
	}
	if keys[0] != keys[1] || keys[0] == keys[2] {
		t.Errorf("keys %v; want the first two the same and the third another", keys)
	}
}

func FuzzAddPacked(f *testing.F) {
	f.Add(AppendPacked(AppendPacked(nil, "a", Bytes, []byte("x")), "b", Int, []byte{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBuilder()
		if b.AddPacked(data) != nil {
			return
		}
		if k, err := b.Seal(); err == nil {
			if _, err := ParseSealed(k.Append(nil)); err != nil {
				t.Errorf("the key of %x does not come back: %v", data, err)
			}
		}
	})
}

func FuzzBuildID(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) { buildID(bytes.NewReader(data)) })
}
