// Kinds of files that hold no times.

package record

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// written is what known programs are asked to write: as many kinds of files as they can, but for those
// that hold the time of their making (modules of GCC), for which a program asks the clock.
var written = []string{
	"gcc -c -g a.c -o out/a.o", "gcc -c -gdwarf-2 a.c -o out/a.o", "gcc -c -gdwarf-5 a.c -o out/a.o", "gcc -S -g a.c -o out/a.s",
	"gcc -E a.c -o out/a.i", "gcc -frandom-seed=1 --coverage -c a.c -o out/a.o", "gcc -flto -frandom-seed=1 -c a.c -o out/a.o",
	"gcc -gsplit-dwarf -c a.c -o out/a.o", "gcc -fstack-usage -c a.c -o out/a.o", "gcc -MD -c a.c -o out/a.o",
	"setarch -R gcc -x c-header a.h -o out/a.gch",
	"gfortran -c m.f90 -Jout -o out/m.o", "gfortran -cpp -g -c m.f90 -Jout -o out/m.o",
	"gcc -g a.o b.o -o out/a", "gcc -g a.o b.o -fuse-ld=gold -Wl,--gdb-index -o out/a", "gcc -g a.o b.o -fuse-ld=lld -Wl,-Map,out/map -o out/a",
	"gcc -g a.o b.o -fuse-ld=mold -Wl,-Map,out/map -o out/a", "gcc -g a.o b.o -Wl,-Map,out/map,--cref -o out/a", "ld -r -g a.o b.o -o out/r.o",
	"as --MD out/d b.s -o out/b.o",
	"clang -c -g a.c -o out/a.o", "clang -emit-llvm -c a.c -o out/a.bc", "clang -flto=thin -c a.c -o out/a.o", "clang -emit-llvm -S -g a.c -o out/a.ll",
	"clang -x c-header a.h -o out/a.pch", "clang -emit-ast a.c -o out/a.ast", "clang -O2 -fsave-optimization-record -c a.c -o out/a.o",
	"clang --coverage -c a.c -o out/a.o", "clang -fprofile-instr-generate -fcoverage-mapping -c a.c -o out/a.o",
	"clang --target=x86_64-w64-mingw32 -c a.c -o out/a.obj", "clang --target=wasm32 -c a.c -o out/a.wasm",
	"clang --target=x86_64-apple-darwin -g -c a.c -o out/a.macho", "clang --serialize-diagnostics out/a.dia -c a.c -o out/a.o",
}

func TestKindsWithoutTimesAreTheSameWhateverTheTimesOfTheirSources(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	differed, compared := false, 0
	for _, command := range written {
		args := strings.Fields(command)
		if _, err := exec.LookPath(args[0]); err != nil {
			continue
		}
		t.Run(command, func(t *testing.T) {
			one, two := writtenAt(t, args, 1_000_000_000), writtenAt(t, args, 1_500_000_000)
			if len(one) != len(two) {
				t.Fatalf("%d and %d files", len(one), len(two))
			}
			compared += len(one)
			for name, data := range one {
				switch equal := bytes.Equal(data, two[name]); {
				case equal:
				case isTimeless(data[:min(len(data), headSize)]):
					t.Errorf("%s begins with %q, and depends on times", name, data[:min(len(data), 12)])
				default:
					differed = true
				}
			}
		})
	}
	if compared == 0 {
		t.Error("no command could be run")
	}
	if _, err := exec.LookPath("clang"); err == nil && !differed {
		t.Error("clang's precompiled headers do not depend on times: nothing was compared")
	}
}

// writtenAt returns the files that a command writes if all that it reads is of a time,
// nothing if it fails: not each version and not each linker has each option.
func writtenAt(t *testing.T, args []string, at int64) map[string][]byte {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "jitcache-kinds") // outputs hold its name
	os.RemoveAll(dir)
	defer os.RemoveAll(dir)
	w := &world{t: t, dir: dir}
	w.put("a.h", "#define N 1\nstatic inline int g(void) { return 2; }\n")
	w.put("a.c", "#include \"a.h\"\nint b(void);\nint main(void) { return g() * b() * N; }\n")
	w.put("b.c", "int b(void) { return 3; }\n")
	w.put("b.s", ".globl b\nb: ret\n")
	w.put("m.f90", "module m\ncontains\ninteger function f(x)\ninteger :: x\nf = x + 1\nend function\nend module\n")
	os.Mkdir(dir+"/out", 0o755)
	for _, name := range []string{"a", "b"} {
		command := exec.Command("gcc", "-g", "-c", name+".c", "-o", name+".o")
		if command.Dir = dir; command.Run() != nil {
			t.Fatal(name + ".c cannot be compiled")
		}
	}
	sources, _ := filepath.Glob(dir + "/*.*")
	for _, path := range sources {
		os.Chtimes(path, time.Unix(at, 0), time.Unix(at, 0))
	}
	command := exec.Command(args[0], args[1:]...)
	command.Dir = dir
	if said, err := command.CombinedOutput(); err != nil {
		t.Logf("%v: %s", err, said)
		return nil
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(sources, path) {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTimesCountForWhoLeavesAFileOfAKindThatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		target string
		counts bool
	}{{"x86_64-linux-gnu", false}, {"x86_64-w64-mingw32", false}, {"x86_64-apple-darwin", true}} {
		t.Run(c.target, func(t *testing.T) {
			w := newWorld(t)
			w.put("a.c", "#include \"a.h\"\nint n = N;\n")
			header := w.put("a.h", "#define N 1\n")
			settle()
			l := w.takenOf("clang", "--target="+c.target, "-c", "a.c", "-o", "a.o")
			w.date(header)
			w.compare(l, c.counts, "modification time")
		})
	}
}

func TestCompiledModuleOfPythonBesideACompileMakesNoTimesCount(t *testing.T) {
	python := pythonItself(t)
	w := newWorld(t)
	w.put("a.c", "#include \"a.h\"\nint n = N;\n")
	header := w.put("a.h", "#define N 1\n")
	w.put("m.py", "words = ['gcc', '-c', 'a.c', '-o', 'a.o']\n")
	w.put("main.py", "import m, subprocess\nsubprocess.check_call(m.words)\n")
	w.env = slices.DeleteFunc(w.env, func(e string) bool { return strings.HasPrefix(e, "PYTHON") })
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	settle()
	l := w.takenOf(python, "main.py")
	if made, _ := filepath.Glob(w.dir + "/__pycache__/m.*"); len(made) == 0 {
		t.Fatal("Python has kept no module")
	}
	w.date(header)
	w.compare(l, false, "")
}
