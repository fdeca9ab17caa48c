// Parts of requests for NVRTC, and the faults of errors.

package cuda

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"jitcache/core/request"
	"jitcache/cuda/nvrtc"
)

func part(letter byte, text string) string {
	return string(binary.LittleEndian.AppendUint64([]byte{letter}, uint64(len(text)))) + text
}

func TestPartsAreReadInOrder(t *testing.T) {
	p, err := parseRequest([]byte(part('N', "a/k.cu") + part('T', "ptx") + part('o', "-I") + part('o', "/x") +
		part('h', "a.h") + part('t', "text") + part('h', "b.h") + part('t', "") + part('e', "k<int>") +
		part('n', "/old") + part('n', "/new") + part('d', "/driver") + part('H', "/cuda") + part('p', "/packages") + part('k', "app")))
	if err != nil {
		t.Fatal(err)
	}
	if p.name != "a/k.cu" || p.target != nvrtc.PTX || !slices.Equal(p.options, []string{"-I", "/x"}) ||
		!slices.Equal(p.headers, []nvrtc.Header{{Name: "a.h", Text: "text"}, {Name: "b.h"}}) ||
		!slices.Equal(p.expressions, []string{"k<int>"}) || p.compiler.Explicit != "/new" || p.driver.Explicit != "/driver" ||
		p.kind != "app" || !slices.Equal(p.compiler.Homes, []string{"/cuda"}) || !slices.Equal(p.compiler.Wheels, []string{"/packages"}) {
		t.Errorf("read as %+v", p)
	}
}

func TestMalformedPartsAreAnError(t *testing.T) {
	whole := part('o', "-G")
	for _, text := range []string{
		whole[:3], whole[:len(whole)-1], part('?', ""), part('t', "a text without a header"), part('T', "sass"),
		part('k', ""), part('k', "Two Words"), part('k', "seventeen-letters"),
		"o\xff\xff\xff\xff\xff\xff\xff\xff", whole + "x",
	} {
		if p, err := parseRequest([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		} else if FaultOf(err) != BadRequest || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(part('N', "k.cu") + part('h', "a.h") + part('t', "text")))
	f.Add([]byte(part('T', "ltoir") + part('o', "")))
	f.Add([]byte("o\x02\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseRequest(b)
		if (p == nil) != (err != nil) {
			t.Fatalf("%q: %+v, %v", b, p, err)
		}
	})
}

func TestFaultsAreToldApart(t *testing.T) {
	for want, err := range map[Fault]error{
		DoesNotCompile: &nvrtc.Failed{},
		NoLibrary:      libraryError{errors.New("gone")},
		BadRequest:     request.ErrParts,
	} {
		if got := FaultOf(errors.Join(err)); got != want {
			t.Errorf("%T is %d, want %d", err, got, want)
		}
	}
}

func TestAttributesComeBack(t *testing.T) {
	a := Attributes{Target: "cubin", Arch: "sm_90", NVRTC: "13.5", Log: "a\n\"b\"", Lowered: map[string]string{"k<int>": "_Z1kIiEvPT_"}}
	b := ParseAttributes(a.jsonText())
	if b.Log != a.Log || b.Lowered["k<int>"] != "_Z1kIiEvPT_" || b.Arch != a.Arch || b.Target != a.Target || b.NVRTC != a.NVRTC {
		t.Errorf("%+v came back as %+v", a, b)
	}
	for _, text := range []string{"", "{", "[]", `{"log": 1}`} {
		if got := ParseAttributes(text); got.Log != "" || got.Lowered != nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
