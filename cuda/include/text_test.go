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
		for seed := range uint64(max(texts, 40)) {
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
