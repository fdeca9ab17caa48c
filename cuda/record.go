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

// recipe is what the parts of a request say: how to compile, whatever the source.
// Requests that differ in their sources share it. It does not change.
type recipe struct {
	*parts
	opts    *nvrtc.Options
	refused error // by an option
	headers key.Digest
	// What the recipe puts into keys: of results, and of notes.
	toKey, toNote *key.Builder
}

// record is what the process knows of a request between calls, so that a hit
// looks at files and devices only.
type record struct {
	*recipe

	mu      sync.Mutex
	shelf   *manifest.Shelf // closures that were seen
	current *include.Closure
	key     *key.Key // the last one, and what it was made of
	of      circumstances
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
	maxRecords = 256
	maxRecipes = 64
)

var known struct {
	sync.Mutex
	records map[[2]key.Digest]*record
	recipes map[key.Digest]*recipe
}

// record returns what is known of the request. The error is that it is
// malformed.
func (r *Request) record() (*record, error) {
	id := [2]key.Digest{r.SourceDigest, r.PartsDigest}
	known.Lock()
	defer known.Unlock()
	if rec := known.records[id]; rec != nil {
		return rec, nil
	}
	recipe := known.recipes[r.PartsDigest]
	if recipe == nil {
		p, err := parse(r.Parts)
		if err != nil {
			return nil, err
		}
		recipe = newRecipe(p)
		known.recipes = keep(known.recipes, maxRecipes, r.PartsDigest, recipe)
	}
	// Of the request, whose bytes may go, what its notes are found by.
	size, digest := len(r.Source), r.SourceDigest
	rec := &record{recipe: recipe, shelf: manifest.NewShelf(func() *key.Key { return recipe.note(size, digest) })}
	known.records = keep(known.records, maxRecords, id, rec)
	return rec, nil
}

// keep puts a value into a map that may hold so many. Which one goes for it does
// not matter: it is made anew when it is wanted.
func keep[K comparable, V any](m map[K]V, most int, k K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	for other := range m {
		if len(m) < most {
			break
		}
		delete(m, other)
	}
	m[k] = v
	return m
}

func newRecipe(p *parts) *recipe {
	r := &recipe{parts: p, headers: digestOf(p.headers), toKey: key.NewBuilder(), toNote: key.NewBuilder()}
	r.opts, r.refused = nvrtc.Parse(p.options)
	// Of the headers in memory the digest is kept only: they are large.
	p.headers = nil
	// Name expressions commute, and one may be given twice.
	slices.Sort(p.expressions)
	p.expressions = slices.Compact(p.expressions)
	r.addToKey()
	r.addToNote()
	return r
}

// digestOf hashes headers in memory: names and texts, in order.
func digestOf(headers []nvrtc.Header) key.Digest {
	var all []byte
	for _, h := range headers {
		all = key.AppendPacked(all, h.Name, key.Bytes, []byte(h.Text))
	}
	return key.Sum(all)
}
