// Keys and packed forms that never change.

package key

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// goldenVector is a key that tests/golden/make_keys.py has computed from
// docs/format.md, with no code in common with this package.
type goldenVector struct {
	Name       string
	Key        string
	Components []goldenComponent
}

type goldenComponent struct {
	Label, Tag, Short string
	Value             json.RawMessage // hex, or {"repeat": hex, "times": n}
}

func goldenVectors(t *testing.T) []goldenVector {
	t.Helper()
	data, err := os.ReadFile("../../tests/golden/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []goldenVector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 40 {
		t.Fatalf("%d vectors, want at least 40", len(vectors))
	}
	return vectors
}

func (c *goldenComponent) value(t *testing.T) []byte {
	t.Helper()
	long := struct {
		Repeat string
		Times  int
	}{Times: 1}
	if err := json.Unmarshal(c.Value, &long.Repeat); err != nil {
		if err := json.Unmarshal(c.Value, &long); err != nil {
			t.Fatal(err)
		}
	}
	unit, err := hex.DecodeString(long.Repeat)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Repeat(unit, long.Times)
}

func (v *goldenVector) packed(t *testing.T) []byte {
	t.Helper()
	var packed []byte
	for i := range v.Components {
		c := &v.Components[i]
		packed = AppendPacked(packed, c.Label, Tag(c.Tag[0]), c.value(t))
	}
	return packed
}

func TestGoldenKeys(t *testing.T) {
	for _, v := range goldenVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			b := NewBuilder()
			if err := b.AddPacked(v.packed(t)); err != nil {
				t.Fatal(err)
			}
			k, err := b.Seal()
			if err != nil {
				t.Fatal(err)
			}
			if k.ID.String() != v.Key {
				t.Errorf("key %v, want %v", k.ID, v.Key)
			}
			shorts := map[string]string{}
			for _, p := range k.Parts {
				shorts[p.Label] = hex.EncodeToString(p.Short[:])
			}
			if len(shorts) != len(v.Components) {
				t.Errorf("%d components, want %d", len(shorts), len(v.Components))
			}
			for _, c := range v.Components {
				if shorts[c.Label] != c.Short {
					t.Errorf("component %q: digest %s, want %s", c.Label, shorts[c.Label], c.Short)
				}
			}
		})
	}
}

// keys.txt has packed forms that another implementation has made.
func TestGoldenPackedForms(t *testing.T) {
	data, err := os.ReadFile("../../tests/golden/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	packedForms := map[string]bool{}
	for line := range bytes.Lines(data) {
		packed, digits, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if !ok {
			t.Fatalf("line %.80q", line)
		}
		if string(packed) == "-" {
			packed = nil
		}
		packedForms[string(packed)+" "+string(digits)] = true
		form, err := hex.DecodeString(string(packed))
		if err != nil {
			t.Fatal(err)
		}
		b := NewBuilder()
		if err := b.AddPacked(form); err != nil {
			t.Fatalf("%.80s: %v", packed, err)
		}
		k, err := b.Seal()
		if err != nil || k.ID.String() != string(digits) {
			t.Errorf("%.80s: key %v, %v, want %s", packed, k.ID, err, digits)
		}
	}
	found := 0
	for _, v := range goldenVectors(t) {
		if packedForms[hex.EncodeToString(v.packed(t))+" "+v.Key] {
			found++
		} else if len(v.packed(t)) <= 8<<10 {
			t.Errorf("%s: AppendPacked gives another form", v.Name)
		}
	}
	if found < 40 {
		t.Errorf("%d vectors are in keys.txt, want at least 40", found)
	}
}
