package nvrtc

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"jitcache/core/request"
)

func keyedOf(t *testing.T, raw ...string) []string {
	t.Helper()
	o, err := Parse(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return append(slices.Clone(o.Keyed), o.Arch, strconv.FormatBool(o.Link))
}

func TestSpellingsOfAnOptionAreOneKey(t *testing.T) {
	for _, forms := range [][][]string{
		{{"-arch=sm_90"}, {"-arch", "sm_90"}, {"-arch", "  sm_90 "}, {" -arch=sm_90 "}, {" -arch", "sm_90"}, {"--gpu-architecture=sm_90"}, {"--gpu-architecture", "sm_90"}},
		{{"-DA=1"}, {"-D", "A=1"}, {"-D A=1"}, {"-D=A=1"}, {"--define-macro=A=1"}, {"--define-macro", "A=1"}},
		{{"-UA"}, {"-U", "A"}, {"--undefine-macro=A"}},
		{{"-ftz=true"}, {"--ftz=true"}, {"--ftz", "true"}, {"-ftz", "true"}},
		{{"--std=c++17"}, {"-std=c++17"}},
		{{"-G"}, {"--device-debug"}},
		{{"-lineinfo"}, {"--generate-line-info"}},
		{{"-dlto"}, {"--dlink-time-opt"}},
		{{"-Xptxas", "-v"}, {"-Xptxas=-v"}, {"--ptxas-options=-v"}, {"--ptxas-options", "-v"}},
		{{}, {"--no-cache"}, {"-no-cache"}},
		{{"-w", "-arch=sm_90"}, {"-arch=sm_90", "-w"}, {"-arch=sm_90", "--no-cache", "--disable-warnings"}},
		{{}, {"-I/a"}, {"-I", "/b", "--include-path=/c"}},
	} {
		want := keyedOf(t, forms[0]...)
		for _, form := range forms[1:] {
			if got := keyedOf(t, form...); !slices.Equal(got, want) {
				t.Errorf("%q is keyed as %q, %q as %q", form, got, forms[0], want)
			}
		}
	}
}

func TestDifferentOptionsAreDifferentKeys(t *testing.T) {
	for _, pair := range [][2][]string{
		{{"-arch=sm_90"}, {"-arch=sm_90a"}},
		{{"-DA=1"}, {"-DA=2"}},
		{{"-DA"}, {"-UA"}},
		{{"-DA=1", "-UA"}, {"-UA", "-DA=1"}},
		{{"-DA=1", "-DA=2"}, {"-DA=2", "-DA=1"}},
		{{"-fmad=true", "-fmad=false"}, {"-fmad=false", "-fmad=true"}},
		{{"-diag-suppress=1", "-diag-error=1"}, {"-diag-error=1", "-diag-suppress=1"}},
		{{"--newer", "-G"}, {"-G", "--newer"}},
		{{"--newer", "-I/a"}, {"--newer", "-I/b"}},
		{{"-ftz=true"}, {"-ftz=false"}},
		{{"-G"}, {"-lineinfo"}},
		{{}, {"-std=c++17"}},
		{{"-DAB"}, {"-DA", "-DB"}},
	} {
		if a, b := keyedOf(t, pair[0]...), keyedOf(t, pair[1]...); slices.Equal(a, b) {
			t.Errorf("%q and %q are both keyed as %q", pair[0], pair[1], a)
		}
	}
}

func TestWhatIsSearchedKeepsItsOrder(t *testing.T) {
	o, err := Parse([]string{" -I/a ", "-DX=1", "-I", " /b ", "-include=p.h", "--pre-include", "q.h", "-UX", "--include-path=/c d", "-I=/e=f"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/a", "/b", "/c d", "/e=f"}; !slices.Equal(o.Dirs, want) {
		t.Errorf("folders are %q, want %q", o.Dirs, want)
	}
	if want := []string{"p.h", "q.h"}; !slices.Equal(o.PreIncludes, want) {
		t.Errorf("pre-includes are %q, want %q", o.PreIncludes, want)
	}
	if want := []string{"X=1"}; !slices.Equal(o.Macros, want) {
		t.Errorf("macros are %q, want %q", o.Macros, want)
	}
}

func TestValuesAreWhatNVRTCTakesThemFor(t *testing.T) {
	for _, c := range []struct{ options, dirs, preIncludes, macros []string }{
		{[]string{"-Ia", "-I", "b", "-I=c", "-I d", "--include-path=e", "--include-path", "f", "-I", " g ", "-I= h"}, []string{"a", "b", "c", "d", "e", "f", "g", " h"}, nil, nil},
		{[]string{"-I", "", "-I=", "-I"}, []string{"", "", ""}, nil, nil},
		{[]string{"-I", "=a", "-I==b"}, []string{"=a", "=b"}, nil, nil},
		{[]string{"-DA", "-D", "B=1", "-D=C", "-D D=2", "--define-macro=E(x)=x", "--define-macro", "F"}, nil, nil, []string{"A", "B=1", "C", "D=2", "E(x)=x", "F"}},
		{[]string{"-UA", "-U", "B", "--undefine-macro=C", "--undefine-macro", "D"}, nil, nil, nil},
		{[]string{"-include", "a", "-include=b", "--pre-include=c", "--pre-include", "d"}, nil, []string{"a", "b", "c", "d"}, nil},
	} {
		o, err := Parse(c.options)
		if err != nil || !slices.Equal(o.Dirs, c.dirs) || !slices.Equal(o.PreIncludes, c.preIncludes) || !slices.Equal(o.Macros, c.macros) {
			t.Errorf("%q: %+v, %v", c.options, o, err)
		}
	}
}

func TestWhatIsAskedForIsKnown(t *testing.T) {
	o, err := Parse([]string{"-arch=sm_80", "-arch", "sm_90", "-dlto", "-G", "--no-source-include", "--use-pch=x.pch", "-std=c++17"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Arch != "sm_90" || o.Standard != "c++17" || !o.Link || !o.ShowsPaths || !o.NoSourceInclude || !slices.Equal(o.Files, []string{"x.pch"}) {
		t.Errorf("parsed as %+v", o)
	}
}

func TestOptionsWithEffectsAreRefusedByName(t *testing.T) {
	for _, raw := range [][]string{
		{"--time=t.csv"},
		{"-time=t.csv"},
		{"-fdevice-time-trace=t"},
		{"--pch"},
		{"-create-pch=a"},
		{"--pch-dir=/x"},
		{"--use-bundled-headers=/x"},
		{"-Xptxas", "--output-file=/x"},
		{"--ptxas-options=-v,-o,/x"},
		{"-Xptxas=--options-file=/x"},
		{"--newer-include-option=/x"},
		{"-pch-newer"},
	} {
		o, err := Parse(append([]string{"-arch=sm_90"}, raw...))
		var refused *request.Refused
		if !errors.As(err, &refused) || refused.What != "option "+raw[0] {
			t.Errorf("%q: %v", raw, err)
		}
		if o == nil || o.Arch != "sm_90" || len(o.Raw) != len(raw)+1 {
			t.Errorf("%q: nothing is known of the rest: %+v", raw, o)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-arch=sm_90\x00-D\x00A\x00-I/x")
	f.Add("-D")
	f.Add("=\x00-I=\x00--std")
	f.Fuzz(func(t *testing.T, text string) {
		raw := splitNUL(text)
		o, err := Parse(raw)
		if o == nil || !slices.Equal(o.Raw, raw) {
			t.Fatalf("%q: %+v", raw, o)
		}
		again, err2 := Parse(raw)
		if (err == nil) != (err2 == nil) || !slices.Equal(o.Keyed, again.Keyed) {
			t.Fatalf("%q: parsed twice, keyed as %q and %q", raw, o.Keyed, again.Keyed)
		}
	})
}

func splitNUL(text string) []string {
	var raw []string
	for len(text) > 0 {
		i := 0
		for i < len(text) && text[i] != 0 {
			i++
		}
		raw = append(raw, text[:i])
		text = text[min(i+1, len(text)):]
	}
	return raw
}
