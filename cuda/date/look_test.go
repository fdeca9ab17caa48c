// Words that show the time are found however they are made.

package date

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// look joins texts.
func look(texts ...string) string {
	var all Look
	for _, t := range texts {
		all.Join(At([]byte(t)))
	}
	return all.Suspect()
}

func TestWordsAreFoundHoweverTheyAreMade(t *testing.T) {
	for _, c := range []struct {
		want  string
		texts []string
	}{
		{"__DATE__", []string{"const char *d = __DATE__;"}},
		{"__TIME__", []string{"", "x", "#define NOW __TIME__\n"}},
		{"__TIMESTAMP__", []string{"__TIMESTAMP__"}},
		{"__TIME__", []string{"// a comment about __TIME__"}},
		{"__TIME__", []string{"-DNOW=__TIME__"}},
		{"__TIME__", []string{"__TI\\\nME__"}},
		{"__TIME__", []string{"__TI\\\r\nME__"}},
		{"__TIME__", []string{"__TI??/\nME__"}},
		{"__TIME__", []string{"__T\\\nI\\\n\\\nME__"}},
		{"__DATE__", []string{"__DA##TE__"}},
		{"__DATE__", []string{"__DA %:%: TE__"}},
		{"__DATE__", []string{"CAT(__DA, TE__)"}},
		{"__DATE__", []string{"CAT3(__, DATE, __)"}},
		{"__DATE__", []string{"CAT8(_, _, D, A, T, E, _, _)"}},
		{"__DATE__", []string{"CAT(__DA,\n    TE__)"}},
		{"__TIME__", []string{"CAT(A, B)", "-DA=__TI", "-DB=ME__"}},
		{"__TIME__", []string{"#define A __T\n", "#define B IM\n", "#define C E__\n"}},
		{"__TIME__", []string{"#define A _\nint x;\n#define B _TIME__\n"}},
		{"__DATE__", []string{"f(__)", "g(DATE)"}},
	} {
		if got := look(c.texts...); got != c.want {
			t.Errorf("%q: %q, want %q", c.texts, got, c.want)
		}
	}
}

func TestOtherTextsAreNotSuspect(t *testing.T) {
	for _, texts := range [][]string{
		{""},
		{"__global__ void k() {}", "__DATE", "DATE__"[:4]},
		{"template <class T, class TI> __device__ T f(TI x, int A, int D, int E, int I, int M) { return _(x); }", "#define __ 1"},
		{"__date__ __time__ __DATES__ __DATE_TIME__ __TIMER__ TIME DATE"},
	} {
		if got := look(texts...); got != "" {
			t.Errorf("%q: %q", texts, got)
		}
	}
}

// CUDA's headers together have all letters of the words as identifiers, but none of the
// words must be suspect.
func TestHeadersOfCUDAAreNotSuspect(t *testing.T) {
	for _, variable := range []string{"JITCACHE_TEST_CUDA12", "JITCACHE_TEST_CUDA13"} {
		folder := os.Getenv(variable)
		if folder == "" {
			continue
		}
		var all Look
		files := 0
		filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !strings.Contains(path, "/include/") {
				return err
			}
			text, err := os.ReadFile(path)
			all.Join(At(text))
			files++
			return err
		})
		if got := all.Suspect(); got != "" || files < 1000 {
			t.Errorf("%s: %q in %d files", variable, got, files)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	text := []byte(strings.Repeat("template <typename _Tp> struct __is_same : integral_constant<bool, false> {}; // a line\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		At(text)
	}
}

func FuzzAt(f *testing.F) {
	f.Add("a??/\n\\\r\n", "__DATE__")
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := look(before + " __TIME__ " + after); got == "" {
			t.Errorf("%q %q", before, after)
		}
	})
}
