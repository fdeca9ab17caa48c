package cuda

import (
	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/cuda/include"
)

// kindManifest is the kind of the entries that say what a source includes.
const kindManifest = "manifest"

// closure returns which files the source can include, and what they are now. A
// closure that was seen before is only checked: the process's own, then that in
// the notes. Otherwise the source is scanned, and what it reaches noted.
//
// It returns the same pointer as long as nothing has changed. The record is
// locked.
func (rec *record) closure(r *Request, known Notes) (*include.Closure, error) {
	if c := rec.find(r, known); c != nil {
		return c, nil
	}
	if known != nil {
		if book, err := manifest.ParseBook(known.Recall(&rec.note(r).ID)); err == nil {
			rec.book = book
			if c := rec.find(r, known); c != nil {
				return c, nil
			}
		}
	}
	c, err := rec.scan(r)
	if err != nil {
		return nil, err
	}
	if rec.book.Add(c.List) && known != nil {
		known.Note(rec.note(r), rec.book.Append(nil))
	}
	rec.current = c
	return c, nil
}

// find returns the closure of the record's book that holds, nil if none does.
func (rec *record) find(r *Request, known Notes) *include.Closure {
	found := rec.book.Find()
	if found.List == nil {
		return nil
	}
	if found.Stale && known != nil {
		known.Note(rec.note(r), rec.book.Append(nil))
	}
	if rec.current != nil && rec.current.List == found.List && !found.Stale {
		return rec.current
	}
	c, err := include.FromList(found.List)
	if err != nil { // of another release
		return nil
	}
	rec.current = c
	return c
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
	return include.Find(req)
}

// note returns the key under which the closures of the source are noted: all
// that decides which files are looked for, and none of them.
func (rec *record) note(r *Request) *key.Key {
	b := key.NewBuilder()
	b.Add("closures of", []byte(schema))
	b.AddDigest("source", len(r.Source), r.SourceDigest)
	b.Add("name", []byte(rec.name))
	b.Add("folders", list(rec.opts.Dirs))
	b.Add("pre-includes", list(rec.opts.PreIncludes))
	b.Add("macros", list(rec.opts.Macros))
	b.Add("headers in memory", rec.headers[:])
	b.Add("standard", []byte(rec.opts.Standard))
	if rec.opts.NoSourceInclude {
		b.Add("no source include", nil)
	}
	b.SetKind(kindManifest)
	k, err := b.Seal()
	if err != nil { // all labels differ
		panic(err)
	}
	return k
}
