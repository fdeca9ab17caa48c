//go:build control_lookatall

package store

// sampleSize has every eviction look at every entry, and free one.
const sampleSize = 1 << 40
