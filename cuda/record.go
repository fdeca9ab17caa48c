package cuda

import (
	"slices"
	"sync"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/cuda/include"
	"jitcache/cuda/nvrtc"
)

// schema is a component of every key. It changes when the same request is to be
// compiled to something else, or when this package has keyed too little.
const schema = "cuda 1"

// record is what the process knows of a request between calls, so that a hit
// looks at files and devices only.
type record struct {
	*parts
	opts    *nvrtc.Options
	refused error // by an option
	headers key.Digest

	mu      sync.Mutex
	book    *manifest.Book // closures that were seen, newest first
	current *include.Closure
	last    answer
}

// answer is the key of the last call, and what it was made of besides the
// request.
type answer struct {
	compiler string
	arch     string
	closure  *include.Closure
	key      *key.Key
}

// maxRecords bounds what the process keeps. A record is a few kilobytes, one
// with a large closure some hundred.
const maxRecords = 256

var records struct {
	sync.Mutex
	known map[[2]key.Digest]*record
}

// record returns what is known of the request. The error is that it is
// malformed.
func (r *Request) record() (*record, error) {
	id := [2]key.Digest{r.SourceDigest, r.PartsDigest}
	records.Lock()
	defer records.Unlock()
	if rec := records.known[id]; rec != nil {
		return rec, nil
	}
	p, err := parse(r.Parts)
	if err != nil {
		return nil, err
	}
	rec := newRecord(p)
	if records.known == nil {
		records.known = map[[2]key.Digest]*record{}
	}
	// Which one goes does not matter: it is read anew when it is wanted.
	for other := range records.known {
		if len(records.known) < maxRecords {
			break
		}
		delete(records.known, other)
	}
	records.known[id] = rec
	return rec, nil
}

func newRecord(p *parts) *record {
	rec := &record{parts: p, book: &manifest.Book{}}
	rec.opts, rec.refused = nvrtc.Parse(p.options)
	// Name expressions commute, and one may be given twice.
	slices.Sort(p.expressions)
	p.expressions = slices.Compact(p.expressions)
	// Of the headers in memory the record has the digest only: they are large.
	rec.headers = digestOf(p.headers)
	p.headers = nil
	return rec
}

// digestOf hashes headers in memory: names and texts, in order.
func digestOf(headers []nvrtc.Header) key.Digest {
	var all []byte
	for _, h := range headers {
		all = key.AppendPacked(all, h.Name, key.Bytes, []byte(h.Text))
	}
	return key.Sum(all)
}
