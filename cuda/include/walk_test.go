package include

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// A forest is a random tree of headers below the working directory. Its texts
// are so plain that the model reads them line by line.
type forest struct {
	t   *testing.T
	rng *rand.Rand
	req *Request
}

var (
	folders = []string{"", "inc/", "inc2/", "inc/sub/", "inc2/sub/"}
	names   = []string{"a.h", "b.h", "c.h", "d.h", "e", "sub/a.h", "sub/b.h", "../b.h", "./c.h", "../inc/sub/a.h", "sub/../d.h"}
)

func pick[T any](rng *rand.Rand, all []T) T { return all[rng.IntN(len(all))] }

func newForest(t *testing.T, seed uint64) *forest {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	f := &forest{t: t, rng: rand.New(rand.NewPCG(seed, 5))}
	for _, folder := range folders {
		for _, name := range names[:5] {
			if f.rng.IntN(4) > 0 {
				write(t, folder+name, f.text())
			}
		}
	}
	f.req = &Request{Source: f.text() + f.text() + f.text(), Name: "k.cu", Dirs: []string{"inc", filepath.Join(dir, "inc2")}}
	return f
}

// text is a header: a number of fixed width, and some lines that ask for others.
func (f *forest) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "#pragma once\n__device__ int v%06d();\n", f.rng.IntN(1_000_000))
	for range 1 + f.rng.IntN(3) {
		name := pick(f.rng, names)
		switch f.rng.IntN(6) {
		case 0:
			fmt.Fprintf(&text, "#if __has_include(\"%s\")\n#endif\n", name)
		case 1:
			fmt.Fprintf(&text, "#if __has_include(<%s>)\n#include <%s>\n#endif\n", name, name)
		case 2, 3:
			fmt.Fprintf(&text, "#if __has_include(<%s>)\n#include <%s>\n#endif\n", name, name)
		default:
			fmt.Fprintf(&text, "#if __has_include(\"%s\")\n#include \"%s\"\n#endif\n", name, name)
		}
	}
	return text.String()
}

// model returns what the result may depend on, as text: of every header that is
// reached its content, which file it is, and where its lines lead.
func (f *forest) model() string {
	var out strings.Builder
	type place struct{ folder, base string }
	number := map[place]int{}
	file := map[string]int{}
	type visit struct{ folder, text string }
	queue := []visit{{"", f.req.Source}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for line := range strings.Lines(v.text) {
			var name string
			if i := strings.IndexAny(line, "<\""); i >= 0 {
				name = line[i+1 : i+1+strings.IndexAny(line[i+1:], ">\"")]
			} else {
				continue
			}
			path := f.resolve(v.folder, name, strings.Contains(line, `"`))
			if path == "" || strings.HasPrefix(line, "#if") {
				fmt.Fprintf(&out, "%t\n", path != "")
				continue
			}
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				f.t.Fatal(err)
			}
			p := place{folder, filepath.Base(path)}
			if n, ok := number[p]; ok {
				fmt.Fprintln(&out, n)
				continue
			}
			number[p] = len(number)
			text, err := os.ReadFile(path)
			if err != nil {
				f.t.Fatal(err)
			}
			end, _ := filepath.EvalSymlinks(path)
			if _, ok := file[end]; !ok {
				file[end] = number[p]
			}
			fmt.Fprintf(&out, "%d is %d: %s", number[p], file[end], text)
			queue = append(queue, visit{path[:strings.LastIndexByte(path, '/')+1], string(text)})
		}
	}
	return out.String()
}

func (f *forest) resolve(folder, name string, quoted bool) string {
	dirs := []string{f.req.Dirs[0] + "/", f.req.Dirs[1] + "/"}
	if quoted {
		dirs = append([]string{folder}, dirs...)
	}
	for _, dir := range dirs {
		for _, suffix := range []string{"", ".stdh"} {
			if suffix != "" && strings.Contains(filepath.Base(name), ".") {
				continue
			}
			if info, err := os.Stat(dir + name + suffix); err == nil && !info.IsDir() {
				return dir + name + suffix
			}
		}
	}
	return ""
}

// step changes something, or nothing, and says what. Half of the steps go for a
// file of the closure, or a name that is absent from it.
func (f *forest) step(c *Closure) string {
	path := pick(f.rng, folders) + pick(f.rng, names[:5])
	if c != nil && f.rng.IntN(2) == 0 {
		path = pick(f.rng, append(slices.Clone(c.List.Absent), paths(c)...))
	}
	text, err := os.ReadFile(path)
	there := err == nil
	switch what := f.rng.IntN(10); {
	case what == 0:
		os.Remove(path)
		f.put(path, f.text())
		return "write " + path
	case what == 1 && there:
		info, _ := os.Stat(path)
		i := strings.Index(string(text), " v") + 2
		f.put(path, string(text[:i])+fmt.Sprintf("%06d", f.rng.IntN(1_000_000))+string(text[i+6:]))
		os.Chtimes(path, info.ModTime(), info.ModTime())
		return "same size and time " + path
	case what == 2:
		os.RemoveAll(path)
		return "remove " + path
	case what == 3:
		os.RemoveAll(path)
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.Symlink(pick(f.rng, names[:5]), path)
		return "link " + path
	case what == 4 && there:
		now := info(path).ModTime().Add(1)
		os.Chtimes(path, now, now)
		return "touch " + path
	case what == 5:
		f.replace(pick(f.rng, folders[1:]))
		return "replace a folder by a copy"
	case what == 6 && there:
		f.put(path+"~", string(text))
		os.Rename(path+"~", path)
		return "replace by a copy " + path
	case what == 7:
		os.RemoveAll(path)
		os.MkdirAll(path, 0o755)
		return "folder " + path
	case what == 8:
		f.put("inc2/nobody", fmt.Sprint(f.rng.Uint64()))
		return "write what nobody reads"
	}
	return "nothing"
}

func info(path string) os.FileInfo {
	i, err := os.Stat(path)
	if err != nil {
		panic(err)
	}
	return i
}

func (f *forest) put(path, text string) {
	os.MkdirAll(path[:strings.LastIndexByte("/"+path, '/')], 0o755)
	if os.WriteFile(path, []byte(text), 0o644) != nil {
		os.RemoveAll(path) // a link that leads to itself, or a folder
		os.WriteFile(path, []byte(text), 0o644)
	}
}

// replace puts a copy of a folder in its place; links stay links.
func (f *forest) replace(folder string) {
	if i, err := os.Lstat(strings.TrimSuffix(folder, "/")); err != nil || !i.IsDir() {
		return
	}
	os.RemoveAll("copy")
	if err := os.CopyFS("copy", os.DirFS(folder)); err != nil {
		return // it has links
	}
	os.RemoveAll(folder)
	os.Rename("copy", folder)
}

// After every step a check must say that something has changed if it has, by
// the model; and mostly that nothing has, if nothing has. Equal digests mean
// equal models.
func TestWalkOfChangesLeavesNoWrongHit(t *testing.T) {
	const seeds, steps = 40, 60
	quiet, heard := 0, 0
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newForest(t, seed)
			models := map[key.Digest]string{}
			c, was := closureOf(t, f), f.model()
			models[c.Digest] = was
			for i := range steps {
				what := f.step(c)
				state, _ := c.List.Check()
				is := f.model()
				if is != was && state != manifest.Changed {
					t.Fatalf("step %d, %s: a wrong hit", i, what)
				}
				if is == was {
					quiet++
					if state == manifest.Changed {
						heard++
					}
				}
				if state == manifest.Changed {
					c, was = closureOf(t, f), is
					if other, ok := models[c.Digest]; ok && other != is {
						t.Fatalf("step %d, %s: one digest of two models:\n%s\n\n%s", i, what, other, is)
					}
					models[c.Digest] = is
				}
			}
		})
	}
	if quiet < seeds*steps/4 || quiet > seeds*steps*7/8 || heard*5 > quiet {
		t.Errorf("of %d steps that change nothing %d were taken for a change", quiet, heard)
	}
	t.Logf("of %d steps that change nothing %d were taken for a change", quiet, heard)
}

// closureOf finds the closure; a link that leads to itself is refused, and put
// out of the way.
func closureOf(t *testing.T, f *forest) *Closure {
	t.Helper()
	for range 100 {
		c, err := Find(f.req)
		if err == nil {
			return c
		}
		refused, ok := err.(*request.Refused)
		if !ok {
			t.Fatal(err)
		}
		os.Remove(refused.What)
	}
	t.Fatal("always refused")
	return nil
}

// Random trees against the truth.
func TestClosureOfRandomTreesHasAllThatNVRTCOpens(t *testing.T) {
	forEach(t, func(t *testing.T, v nvrtc) {
		opened := 0
		for seed := range uint64(25) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				f := newForest(t, 100+seed)
				for range 10 {
					f.step(nil)
				}
				c := closureOf(t, f)
				truth := v.compile(t, f.req)
				opened += len(truth.opened)
				holds(t, c, truth)
				for _, file := range c.List.Files {
					if !slices.ContainsFunc(truth.opened, func(o string) bool { return sameFile(o, file.Path) }) && strings.HasPrefix(file.Path, "inc") && truth.ok {
						t.Logf("%s is in the closure and was not opened", file.Path)
					}
				}
			})
		}
		if opened < 50 {
			t.Errorf("NVRTC opened %d files in all", opened)
		}
	})
}
