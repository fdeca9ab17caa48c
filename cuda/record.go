package cuda

import (
	"slices"
	"sync"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
	"jitcache/cuda/include"
	"jitcache/cuda/nvrtc"
)

// schema is a component of every key. It changes when the same request is to be
// compiled to something else, or when this package has keyed too little.
const schema = "cuda 1"

// template is a request but for its source: how to compile, whatever it is.
// Requests that differ in their sources share one. It does not change.
type template struct {
	*parts
	opts    *nvrtc.Options
	refused error // by an option
	headers key.Digest
	// What it puts into keys: of results, and of manifests.
	toKey, toManifest *key.Builder
}

// record is what the process knows of a request between calls, so that a hit
// looks at files and devices only.
type record struct {
	*template

	mu        sync.Mutex
	manifests *manifest.Store // closures that were seen
	current   *include.Closure
	key       *key.Key // the last one, and what it was made of
	of        circumstances
}

// circumstances are what a key is made of besides the request.
type circumstances struct {
	compiler string // its identity
	arch     string
	folder   string // the working directory, if it counts
	closure  *include.Closure
}

// Bounds of what the process keeps. A record is a kilobyte, one with a large
// closure some hundred.
const (
	maxRecords   = 256
	maxTemplates = 64
)

var (
	records   = request.NewTable[[2]key.Digest, *record](maxRecords)
	templates = request.NewTable[key.Digest, *template](maxTemplates)
)

// record returns what is known of the request. The error is that it is
// malformed.
func (r *Request) record() (*record, error) {
	return records.Get([2]key.Digest{r.SourceDigest, r.PartsDigest}, func() (*record, error) {
		t, err := templates.Get(r.PartsDigest, func() (*template, error) {
			p, err := parse(r.Parts)
			if err != nil {
				return nil, err
			}
			return newTemplate(p), nil
		})
		if err != nil {
			return nil, err
		}
		// Of the request, whose bytes may go, what its manifests are found by.
		size, digest := len(r.Source), r.SourceDigest
		return &record{template: t, manifests: manifest.NewStore(func() *key.Key { return t.manifestKey(size, digest) })}, nil
	})
}

func newTemplate(p *parts) *template {
	t := &template{parts: p, headers: digestOf(p.headers), toKey: key.NewBuilder(), toManifest: key.NewBuilder()}
	t.opts, t.refused = nvrtc.Parse(p.options)
	// Of the headers in memory the digest is kept only: they are large.
	p.headers = nil
	// Name expressions commute, and one may be given twice.
	slices.Sort(p.expressions)
	p.expressions = slices.Compact(p.expressions)
	t.addToKey()
	t.addToManifestKey()
	return t
}

// digestOf hashes headers in memory: names and texts, in order.
func digestOf(headers []nvrtc.Header) key.Digest {
	var all []byte
	for _, h := range headers {
		all = key.AppendPacked(all, h.Name, key.Bytes, []byte(h.Text))
	}
	return key.Sum(all)
}
