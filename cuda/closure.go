package cuda

import (
	"bytes"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/cuda/include"
)

// kindManifest is the kind of the entries that say what a source includes.
const kindManifest = "manifest"

// closure returns which files the source can include, and what they are now. A
// closure that was seen before is only checked; otherwise the source is scanned,
// and what it reaches saved.
//
// It returns the same pointer as long as nothing has changed. The record is
// locked.
func (rec *record) closure(r *Request, cache manifest.Cache) (*include.Closure, error) {
	if rec.isSmall(r) {
		cache = nil
	}
	found := rec.manifests.Find(cache)
	if found.List != nil && !found.Stale && rec.current != nil && rec.current.List == found.List {
		return rec.current, nil
	}
	if found.List != nil {
		if c, err := include.FromList(found.List); err == nil { // and not of another release
			rec.current = c
			return c, nil
		}
	}
	c, err := rec.scan(r)
	if err != nil {
		return nil, err
	}
	rec.manifests.Add(c.List, cache)
	rec.current = c
	return c, nil
}

// isSmall reports whether to scan the source costs less than to read what was
// saved of it (10 us): it is short, and includes nothing.
func (rec *record) isSmall(r *Request) bool {
	return len(r.Source) < 2048 && len(rec.opts.PreIncludes) == 0 && !bytes.Contains(r.Source, []byte("include"))
}

func (rec *record) scan(r *Request) (*include.Closure, error) {
	p, err := parse(r.Parts)
	if err != nil {
		return nil, err
	}
	req := &include.Request{
		Source:          string(r.Source),
		Name:            rec.name,
		Dirs:            rec.opts.Dirs,
		PreIncludes:     rec.opts.PreIncludes,
		Macros:          rec.opts.Macros,
		Standard:        rec.opts.Standard,
		NoSourceInclude: rec.opts.NoSourceInclude,
	}
	for _, h := range p.headers {
		req.Headers = append(req.Headers, include.Header{Name: h.Name, Text: h.Text})
	}
	c, err := include.Find(req)
	if err == nil && !keepAbsent {
		c.List.Absent = nil
	}
	return c, err
}

// addToManifestKey adds what decides which files are looked for, whatever the
// source.
func (t *template) addToManifestKey() {
	b := t.toManifest
	b.Add("closures of", []byte(schema))
	b.Add("name", []byte(t.name))
	b.AddTexts("folders", t.opts.Dirs)
	b.AddTexts("pre-includes", t.opts.PreIncludes)
	b.AddTexts("macros", t.opts.Macros)
	b.Add("headers in memory", t.headers[:])
	b.Add("standard", []byte(t.opts.Standard))
	if t.opts.NoSourceInclude {
		b.Add("no source include", nil)
	}
	b.SetKind(kindManifest)
}

// manifestKey returns the key under which the closures of a source are saved.
func (t *template) manifestKey(size int, source key.Digest) *key.Key {
	b := t.toManifest.Clone()
	b.AddDigest("source", size, source)
	k, err := b.Seal()
	if err != nil { // all labels differ
		panic(err)
	}
	return k
}
