// Package key computes the names under which compiled results are kept.
//
// A key is built from labelled components: the source, the options, the
// target, the compiler's identity, and whatever else the result depends on.
//
//	b := key.NewBuilder()
//	b.Add("source", src)
//	b.Add("arch", []byte("sm_90"))
//	b.AddTool("compiler", "/usr/bin/cc")
//	k, err := b.Seal() // also reports errors of the calls above
//
// The [ID] of a key is BLAKE3 over a schema string and the components sorted by
// label, so the order in which they are added does not matter and no two
// different sets of components share an ID. The exact bytes are in
// docs/format.md; tests/golden/keys.json holds vectors that the Go, C and
// Python tests all read.
//
// Two types keep two kinds of hash apart: an [ID] names a request, a [Digest]
// names content. No function takes "a hash".
//
// Paths, times and process state never enter an ID. The files that were read to
// compute it are remembered beside it as [Input] values, so that a result is not
// stored if it was compiled while they were edited (see [Input.Changed]).
package key
