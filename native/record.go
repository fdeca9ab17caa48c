package native

import (
	"sync"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// schema is a component of every key. It changes when the same request is to be
// compiled to something else, or when this package has keyed too little.
const schema = "native 2"

// record is what the process knows of a request between calls, so that a hit
// looks at files only.
type record struct {
	*parts
	flags   *flags
	refused error

	mu    sync.Mutex
	tools map[string]*manifest.Store     // by language
	files map[key.Digest]*manifest.Store // by what the toolchains are
	tool  map[string]*toolchain
	// What is on the way to a toolchain: what the compiler has said, and what its
	// programs consist of.
	learned  map[string]*toolchain
	programs map[string]*manifest.Store
	now      *closure
	// What the keys of manifests of files have in common.
	toFiles *key.Builder
	answer  *key.Key // for tool and now
	asked   int64    // when the compiler was asked for files; 0: it was not, or has answered
	doubt   *manifest.List
}

// maxRecords bounds what the process keeps: a record with a large closure is some
// hundred kilobytes.
const maxRecords = 256

var records = request.NewTable[key.Digest, *record](maxRecords)

// record returns what is known of the request. The error is that it is
// malformed.
func (r *Request) record() (*record, error) {
	return records.Get(r.Digest, func() (*record, error) {
		p, err := parse(r.Parts)
		if err != nil {
			return nil, err
		}
		return newRecord(p)
	})
}

func newRecord(p *parts) (*record, error) {
	rec := &record{
		parts: p, tools: map[string]*manifest.Store{}, tool: map[string]*toolchain{}, files: map[key.Digest]*manifest.Store{},
		learned: map[string]*toolchain{}, programs: map[string]*manifest.Store{},
	}
	var err error
	own, command := p.ownFlags()
	rec.flags, err = parseFlags(append(own, p.flags...))
	if err != nil {
		if _, ok := err.(*request.Refused); !ok {
			return nil, err
		}
		rec.refused = err
		return rec, nil
	}
	rec.flags.keyed = append(rec.flags.keyed, command...)
	b := key.NewBuilder()
	b.Add("schema", []byte(schema))
	b.AddTexts("compiler", p.words)
	b.AddTexts("flags", p.flags)
	b.AddTexts("environment", p.variables)
	b.Add("PATH", []byte(p.path))
	b.AddTexts("loader", p.loader)
	if rec.flags.native && resolvesNative {
		b.Add("processor", []byte(p.cpu))
	}
	b.SetKind("manifest")
	for _, language := range p.languages() {
		l := b.Clone()
		l.Add("toolchain for", []byte(language))
		rec.tools[language] = newStore(l)
	}
	b.Add("files of", []byte(p.kind))
	for i := range p.sources {
		s := &p.sources[i]
		b.Add(label("name of source", i), []byte(s.name))
		b.AddDigest(label("source", i), len(s.text), s.digest)
	}
	rec.toFiles = b
	return rec, nil
}

// fileStore returns where the closures are that this toolchain has found, looking
// where it looks.
func (rec *record) fileStore() *manifest.Store {
	var all []byte
	for _, language := range rec.languages() {
		t := rec.tool[language]
		all = key.AppendTexts(key.AppendTexts(append(all, t.digest[:]...), t.Search...), t.Libs...)
	}
	id := key.Sum(all)
	if rec.files[id] == nil {
		b := rec.toFiles.Clone()
		b.AddDigest("toolchain", 0, id)
		rec.files[id] = newStore(b)
	}
	return rec.files[id]
}

func newStore(b *key.Builder) *manifest.Store {
	k, err := b.Seal()
	if err != nil { // all labels differ
		panic(err)
	}
	return manifest.NewStore(func() *key.Key { return k })
}
