// Reads the parts of a packed request.

package request

import (
	"encoding/binary"
	"errors"
)

// ErrParts is the error for parts that are malformed, or have no meaning.
var ErrParts = errors.New("request: malformed parts")

// partHead is the size of a part's head: a letter, and the length in 8 bytes,
// little-endian.
const partHead = 9

// ReadParts calls take for each part of b, with its letter and its bytes, which alias
// b. It ends at the first error and returns it.
func ReadParts(b []byte, take func(letter byte, value []byte) error) error {
	for len(b) > 0 {
		if len(b) < partHead || binary.LittleEndian.Uint64(b[1:]) > uint64(len(b)-partHead) {
			return ErrParts
		}
		n := partHead + int(binary.LittleEndian.Uint64(b[1:]))
		if err := take(b[0], b[partHead:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
