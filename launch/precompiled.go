// Precompiled headers of gcc among the outputs of a command.

package launch

import (
	"jitcache/core/key"
	"jitcache/observe"
	"jitcache/record"
)

// mostPrecompiled is how many bytes of precompiled headers a result may have in the cache. That of
// <vector>, <string>, <map> and <functional> has 37 MB. One of PyTorch has 158 MB, and takes six
// seconds to make: what is compiled with it is found without it, since it counts as the command
// that made it.
const mostPrecompiled = 64 << 20

const largeHeader = "a precompiled header of more than 64 MiB is not stored; what is compiled with it is"

// headersOf returns the precompiled headers that a command has left, as they are now.
func headersOf(rep *observe.Report) []record.PrecompiledHeader {
	var paths []string
	for i := range rep.Files {
		if rep.Files[i].How&(observe.Created|observe.Replaced) != 0 {
			paths = append(paths, rep.Files[i].Path)
		}
	}
	return record.PrecompiledHeaders(paths)
}

// areLarge reports whether precompiled headers are left out of the cache.
func areLarge(headers []record.PrecompiledHeader) bool {
	size := uint64(0)
	for i := range headers {
		size += headers[i].Stamp.Size
	}
	return size > mostPrecompiled && leavesHeaders
}

// noteMaker notes that a result's command has made these headers.
func (l *lookup) noteMaker(headers []record.PrecompiledHeader, id *key.ID) {
	for i := range headers {
		headers[i].NoteMaker(l.cache, id)
	}
}

// headers returns the precompiled headers that a replay has put in place.
func (r *result) headers(places []record.Place) []record.PrecompiledHeader {
	var paths []string
	for i := range r.outputs {
		if o := &r.outputs[i]; o.kind == regular && (len(o.pieces) > 0 || record.BeginsPrecompiled(o.data)) {
			paths = append(paths, record.Unmark(o.path, places))
		}
	}
	return record.PrecompiledHeaders(paths)
}
