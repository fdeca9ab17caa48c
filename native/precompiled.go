package native

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"jitcache/core/key"
	"jitcache/core/manifest"
)

// gcc takes h.h.gch for the first header of a source, if it fits, whatever h.h
// says by now, and does not tell with -M. It may lie in any folder that is
// searched up to the one that has h.h. All that a source names itself are looked
// at, not the first alone: which one is first depends on conditions.
//
// clang takes h.h.pch or h.h.gch for what -include names, if that is a path.

const (
	precompiledByGcc   = ".gch"
	precompiledByClang = ".pch"
)

// precompiled adds the precompiled headers that there are, and the names under
// which there are none.
func (g *gatherer) precompiled() {
	if !keepsPrecompiled {
		return
	}
	for _, name := range g.f.before {
		g.precompiledOf(".", directive{name: name, form: quote})
		if filepath.IsAbs(name) {
			g.addIfThere(name + precompiledByClang)
		}
	}
	if g.t.isClang() {
		return
	}
	for i := range g.p.sources {
		s := &g.p.sources[i]
		if s.language() == "" {
			continue
		}
		directives, _ := scan(g.texts[s.name])
		for _, d := range directives {
			g.precompiledFor(folder(s.name), d)
		}
	}
	if g.supposed {
		g.precompiledOfAll()
	}
}

// precompiledFor follows a directive of a source.
func (g *gatherer) precompiledFor(dir string, d directive) {
	if d.form >= has {
		return
	}
	named := []directive{d}
	if d.name == "" {
		var ok bool
		if named, ok = g.defined(d.macro); !ok {
			g.supposed = true
		}
	}
	for _, d := range named {
		g.precompiledOf(dir, d)
	}
}

// precompiledOfAll is for a name that is not spelled out: it is one of those that
// were looked for.
func (g *gatherer) precompiledOfAll() {
	for _, f := range slices.Clone(g.c.list.Files) {
		g.addIfThere(f.Path + precompiledByGcc)
	}
	for _, path := range slices.Collect(maps.Keys(g.absent)) {
		g.addIfThere(path + precompiledByGcc)
	}
}

// precompiledOf looks beside every place of a header, up to the one where it is.
func (g *gatherer) precompiledOf(dir string, d directive) {
	if g.t.isClang() && !filepath.IsAbs(d.name) {
		return
	}
	for _, path := range g.places(dir, d) {
		g.addIfThere(path + precompiledByGcc)
		if state, _ := g.look(path); state == there {
			break
		}
	}
}

// addIfThere has a file count, or that there is none.
func (g *gatherer) addIfThere(path string) {
	if !filepath.IsAbs(path) {
		return // in the folder of the build there are the sources, which count
	}
	if _, ok := g.known[path]; ok || g.absent[path] {
		return
	}
	file, err := manifest.Digest(path)
	switch {
	case errors.Is(err, key.ErrNotRegular):
		g.c.Refused = path + ": a folder of precompiled headers"
	case key.IsAbsent(err):
		g.absent[path] = true
	case err != nil:
		g.c.Refused = err.Error()
	default:
		g.known[path] = len(g.c.list.Files)
		g.c.list.Files = append(g.c.list.Files, file)
		g.compiled = append(g.compiled, file.Digest[:]...)
	}
}
