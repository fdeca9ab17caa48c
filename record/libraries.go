// Which shared libraries count: those that a program loads without naming them, and those that are
// only linked.

package record

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/wildcard"
	"jitcache/observe"
)

// A known program behaves as documented only while no foreign code is loaded into it. A
// preloaded library or a plugin may obey any variable, and use any file's time. Which
// libraries belong to a program follows from the files: each names those that it needs.

// unnamed are libraries that known programs load without naming them: those that the C
// library loads.
var unnamed = []string{
	"libgcc_s.so.*", "libnss_*.so.*", "libresolv.so.*", "ISO*.so", "UTF-*.so", "UNICODE.so", "ld-linux*.so.*",
}

// preloads are libraries that LD_PRELOAD puts into everything, and that change nothing which a compiler makes: by their
// names, and by a text in the file. A compiler that has one of them in it is still known.
var preloads = []struct{ name, marker string }{
	{"libfakeroot-*.so", "FAKEROOTKEY"}, // owners and permissions, which it asks a process of its own for
	{"libstdbuf.so", "_STDBUF_O"},       // when output is written, stdbuf(1)
}

// isKnownPreload reports whether a library is one of preloads.
func isKnownPreload(path string) bool {
	name := filepath.Base(path)
	return slices.ContainsFunc(preloads, func(p struct{ name, marker string }) bool {
		return wildcard.Matches(name, p.name) && contains(path, p.marker)
	})
}

// asksFakeroot reports whether all that share memory with others are known programs, and do it to ask fakeroot's process.
func (t *taker) asksFakeroot(u *observe.Used) bool {
	if u.Programs&^t.known.known != 0 {
		return false
	}
	return slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool {
		return wildcard.Matches(filepath.Base(n.Path), preloads[0].name) && n.Readers&u.Programs == u.Programs && isKnownPreload(n.Path)
	})
}

// gccPlugin is what GNU's linkers load to have gcc compile at link time. It stands beside the
// program that starts the linker for gcc (collect2).
const gccPlugin = "liblto_plugin.so"

// bfdPlugins are what GNU's ar and ranlib load from a folder bfd-plugins, to know the symbols of objects for links by gcc and clang.
var bfdPlugins = []string{gccPlugin, "LLVMgold*.so", "libdep.so"}

func isBFDPlugin(path string) bool {
	folder, name := split(path)
	return strings.HasSuffix(folder, "/bfd-plugins") && wildcard.MatchesAny(name, bfdPlugins)
}

// strange returns the known programs into which a library was loaded that none of their
// files names, and those into which one was loaded that may be another than they name.
func (t *taker) strange() (strange, substituted uint64) {
	needed := map[string]bool{}
	t.needed = needed
	libraries := map[string]*observe.Name{}
	var programs, plugins []string
	for i := range t.run.Report.Programs {
		if p := &t.run.Report.Programs[i]; bitOf(p.ID)&t.known.known != 0 {
			programs = append(programs, p.Path)
		}
	}
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if n.Mode&unix.S_IFMT == unix.S_IFREG && n.Readers&t.known.known != 0 && n.Bits&observe.Ran == 0 {
			libraries[n.Path] = n
			if isBFDPlugin(n.Path) {
				needed[filepath.Base(n.Path)] = true
				plugins = append(plugins, n.Path)
			}
		}
	}
	for wanted := slices.Concat(programs, plugins); len(wanted) > 0; {
		path := wanted[0]
		wanted = wanted[1:]
		for _, name := range importsOf(path) {
			if needed[name] {
				continue
			}
			needed[name] = true
			for path := range libraries {
				if filepath.Base(path) == name {
					wanted = append(wanted, path)
				}
			}
		}
	}
	for path, n := range libraries {
		name := filepath.Base(path)
		if isKnownPreload(path) && keepsPreloads {
			continue
		}
		own := needed[name] || wildcard.MatchesAny(name, unnamed) || name == gccPlugin && t.isBeside(path, programs)
		if own && !t.isPreloaded(name) {
			if t.isSubstitute(path, programs) && isShared(path) {
				substituted |= n.Readers & t.known.known
			}
			continue
		}
		if !isShared(path) {
			continue
		}
		// Linkers read the libraries that they link, too. Those that they load as plugins
		// have the function onload.
		mask := t.known.known &^ t.known.linkers
		if has(path, "\x00onload\x00", t.run.Notes) {
			mask = t.known.known
		}
		if n.Readers&mask != 0 {
			t.foreign = name
		}
		strange |= n.Readers & mask
	}
	return strange, substituted
}

// isOnlyLinked reports whether linkers have read a library, and nobody else, and no program has loaded it: none names
// it, nor a library of theirs. (A library that a linker loads without naming it is a plugin, and strange.)
func (t *taker) isOnlyLinked(n *observe.Name) bool {
	name := filepath.Base(n.Path)
	if t.run.Compiler != nil || n.Bits&observe.Ran != 0 || n.Readers == 0 || n.Readers&^(t.known.linkers&t.known.known) != 0 {
		return false
	}
	return !keepsLoaded || !t.needed[name] && !wildcard.MatchesAny(name, unnamed) && name != gccPlugin
}

// isBeside reports whether a file stands in the folder of one of the programs.
func (t *taker) isBeside(path string, programs []string) bool {
	folder, _ := split(path)
	return slices.ContainsFunc(programs, func(program string) bool {
		other, _ := split(program)
		return t.real(other) == t.real(folder)
	})
}

// isPreloaded reports whether a variable of the loader puts a library of this name before those that programs
// name. It may be another one than theirs.
func (t *taker) isPreloaded(name string) bool {
	return slices.ContainsFunc(t.run.Env, func(e string) bool {
		variable, value, _ := strings.Cut(e, "=")
		return (variable == "LD_PRELOAD" || variable == "LD_AUDIT") &&
			slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ':' }), func(word string) bool { return filepath.Base(word) == name })
	})
}

// standard are the folders in which loaders look by themselves.
var standard = []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32"}

// isSubstitute reports whether a library comes from a folder of LD_LIBRARY_PATH, and may be another one than the
// programs' own, whatever its name. Their own are in the loader's folders, and in those for libraries beside theirs.
func (t *taker) isSubstitute(path string, programs []string) bool {
	if !keepsSubstitutes {
		return false
	}
	at, _ := split(path)
	folder := t.real(at)
	own := func(home string) bool { return within(folder, t.real(home)) }
	if slices.ContainsFunc(standard, own) {
		return false
	}
	for _, program := range programs {
		bin, _ := split(program)
		prefix, name := split(t.real(bin))
		if name == "bin" && (own(prefix+"/lib") || own(prefix+"/lib64") || own(prefix+"/lib32")) {
			return false
		}
	}
	return slices.ContainsFunc(t.run.Env, func(e string) bool {
		value, is := strings.CutPrefix(e, "LD_LIBRARY_PATH=")
		return is && slices.ContainsFunc(strings.Split(strings.ReplaceAll(value, ";", ":"), ":"), func(entry string) bool {
			return within(folder, t.real(t.full(entry)))
		})
	})
}

// isShared reports whether a file is a shared library.
func isShared(path string) bool {
	head := headOf(path)
	return len(head) > 17 && strings.HasPrefix(string(head), "\x7fELF") && head[16] == sharedType
}
