// Stamps of files, as this package takes them.

package record

import "jitcache/core/stamp"

// Stamp is what stat said of a file, on which mount, and when (package stamp).
type Stamp = stamp.Stamp

// status is one answer of stat.
type status = stamp.Status

// noMount is the Mount of a stamp that proves nothing.
const noMount = stamp.NoMount

// ended returns a path with a NUL behind it.
func ended(path string) []byte { return append([]byte(path), 0) }
