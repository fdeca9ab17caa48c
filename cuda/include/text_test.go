package include

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// What makes texts hard to read, in any order; %d is the number of a header.
var snippets = []string{
	"#include \"h%d\"\n", "#include <h%d>\n", " # include\t<h%d> // x\n", "%%:include <h%d>\n", "#inc\\\nlude <h%d>\n", "/* x */ #include \"h%d\"\n",
	"/*\n#include <h%d>\n*/\n", "// \\\n#include <h%d>\n", "#if 0\n", "#if 1\n", "#else\n", "#endif\n", "#endif\n", "#ifdef X\n", "#define X\n",
	"int __device__ i%d = 1'000;\n", "#pragma it's %d\n", "#if 0\ndon't %d\n#endif\n", "#if 0\n\"%d\n#endif\n", "#if 0\n'/*%d\n#endif\n",
	"__constant__ char s%d[] = \"/*\";\n", "__constant__ char c%d = '\"';\n", "__constant__ char d%d = '\\'';\n", "__constant__ char e%d[] = \"\\\\\";\n",
	"__constant__ char r%d[] = R\"(\n#include <h0>\n)\";\n", "__constant__ char q%d[] = R\"x(\n)\" /*\n)x\";\n", "__constant__ char u%d[] = u8R\"(\"\n/*)\";\n",
	"#define R%d R\"(\n", "/", "*", "\"", "'", "\\\n", "\\\r\n", "//", "/*", "*/", ")\"", "R\"(", "\n", "\n", "\r\n", "0x1'", " ", "#", "%%:", "u8",
	"#define M%d <h1>\n", "#include M%d\n", "#define Q(x) <x>\n#include Q(h%d)\n", "#if __has_include(<h%d>)\n", "#if __has_include(\"h%d\") // '\n", "#elif __has_include(<h%d>)\n",
	"#include <h%d> /* x\n", "#include \"h%d\" 'x\n", "#error it's %d\n", "#warning don't /* %d\n", "#include <h%d\n", "#include \"a/*b%d\"\n", "#if 0\n#include <a/*b%d>\n#endif\n",
	"??=include <h%d>\n", "//??/\n#include <h%d>\n",
}

func randomText(rng *rand.Rand) string {
	var text strings.Builder
	for range 5 + rng.IntN(20) {
		s := pick(rng, snippets)
		if strings.Contains(s, "%d") {
			s = fmt.Sprintf(s, rng.IntN(20))
		} else {
			s = strings.ReplaceAll(s, "%%", "%")
		}
		text.WriteString(s)
	}
	return text.String()
}

// Whatever a text does to comments, literals and lines, NVRTC opens no header
// that the scanner has not found. JITCACHE_TEST_TEXTS is how many to try.
func TestScannerFindsWhateverNVRTCOpens(t *testing.T) {
	texts, _ := strconv.Atoi(os.Getenv("JITCACHE_TEST_TEXTS"))
	forEach(t, func(t *testing.T, v nvrtc) {
		t.Chdir(t.TempDir())
		for i := range 20 {
			write(t, fmt.Sprintf("h%d", i), "#pragma once\n")
		}
		opened := 0
		for seed := range uint64(max(texts, 80)) {
			rng := rand.New(rand.NewPCG(seed, 7))
			req := &Request{Source: randomText(rng), Name: "k.cu", Dirs: []string{"."}, Standard: pick(rng, []string{"c++03", "c++14", "c++17", "c++20"})}
			truth := v.compile(t, req)
			opened += len(truth.opened)
			if holds(t, find(t, req), truth); t.Failed() {
				t.Fatalf("seed %d, %s:\n%s\n%q\n%s", seed, req.Standard, req.Source, req.Source, truth.log)
			}
		}
		if opened < 40 {
			t.Errorf("NVRTC opened %d files in all", opened)
		}
		t.Logf("NVRTC opened %d files in all", opened)
	})
}

// Definitions and uses of macros that name headers; %d as above.
var (
	definitions = []string{
		"#define N h%d\n", "#define M h%d\n", "#define D %d\n", "#define F(x) <x>\n", "#define F(x) < x>\n", "#define G(x) F(x)\n", "#define S(x) #x\n", "#define T(x) S(x)\n",
		"#define P(a,b) a##b\n", "#define O(a,b) P(a,b)\n", "#define A <h%d>\n", "#define A \"h%d\"\n", "#define A B\n", "#define B A\n", "#define B <h%d>\n", "#define C(x) A\n",
		"#define V(x,...) F(x)\n", "#define W(...) T(__VA_ARGS__)\n", "#define N M\n", "#define M N\n", "#define D /* x */ %d\n", "#define G F\n", "#define K(x) <./x>\n", "#define E\n",
		"#define H(x) __has_include(x)\n", "#define U __has_include(<h%d>)\n", "#define X(f,x) f(x)\n", "#define Y(x) x E\n", "#define L <\n", "#define R h%d>\n",
	}
	uses = []string{
		"#include A\n", "#include B\n", "#include F(N)\n", "#include G(M)\n", "#include T(N)\n", "#include S(h%d)\n", "#include F(O(h,D))\n", "#include T(O(h,D))\n", "#include T(P(h,%d))\n",
		"#include C(%d)\n", "#include V(N,M)\n", "#include W(N)\n", "#include K(N)\n", "#include X(F,N)\n", "#include Y(A)\n", "#include L R\n", "#include E A\n", "#include G(Y(N))\n", "#include T(E N)\n",
		"#if H(A) || H(<h%d>)\n#endif\n", "#if U\n#endif\n", "#if __has_include(A)\n#endif\n", "#if __has_include(F(N))\n#endif\n", "__device__ bool b%d = H(\"h%d\");\n",
		"#undef N\n", "#undef A\n", "#undef F\n", "#undef G\n#define G(x) T(x)\n", "#undef N\n#define N h%d\n", "#undef D\n#define D %d\n",
	}
)

func randomMacros(rng *rand.Rand) string {
	var text strings.Builder
	put := func(s string) {
		for strings.Contains(s, "%d") {
			s = strings.Replace(s, "%d", fmt.Sprint(rng.IntN(20)), 1)
		}
		text.WriteString(s)
	}
	for _, i := range rng.Perm(len(definitions))[:len(definitions)*2/3] {
		put(definitions[i])
	}
	for range 3 + rng.IntN(8) {
		use := pick(rng, uses)
		if operand, ok := strings.CutPrefix(use, "#include "); ok { // the compile ends at one that is not there
			use = "#if __has_include(" + strings.TrimSpace(operand) + ")\n" + use + "#endif\n"
		}
		put(use)
	}
	return text.String()
}

func TestExpanderFindsWhateverNVRTCOpens(t *testing.T) {
	texts, _ := strconv.Atoi(os.Getenv("JITCACHE_TEST_TEXTS"))
	forEach(t, func(t *testing.T, v nvrtc) {
		t.Chdir(t.TempDir())
		for i := range 20 {
			write(t, fmt.Sprintf("h%d", i), "#pragma once\n")
		}
		opened, refusals := 0, 0
		for seed := range uint64(max(texts, 40)) {
			req := &Request{Source: randomMacros(rand.New(rand.NewPCG(seed, 8))), Name: "k.cu", Dirs: []string{"."}}
			c, err := Find(req)
			if err != nil {
				refusals++ // too many ways
				continue
			}
			truth := v.compile(t, req)
			opened += len(truth.opened)
			if holds(t, c, truth); t.Failed() {
				t.Fatalf("seed %d:\n%s\n%s", seed, req.Source, truth.log)
			}
		}
		if opened < 20 || refusals > max(texts, 40)/2 {
			t.Errorf("NVRTC opened %d files in all, %d refusals", opened, refusals)
		}
		t.Logf("NVRTC opened %d files in all, %d refusals", opened, refusals)
	})
}
