//go:build !control_lookatall

package store

// sampleSize is about how many entries one eviction looks at. A directory with
// no more is evicted in exact order, to exactly the cap; of a larger one as
// many shards are looked at as hold this many. Keys are hashes, so a shard is a
// fair sample of the whole.
const sampleSize = 256
