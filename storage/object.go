// An entry as an engine keeps it, compressed if that is worthwhile.

package storage

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/zstd"
)

// An object is an entry as an engine keeps it: 16 bytes, then the bytes of the entry's file, as
// they are or compressed. docs/format.md describes it.
//
//	0 5  the text jcobj
//	5 1  zero
//	6 1  0 as it is, 1 zstd
//	7 1  version, 1
//	8 8  size of the entry, little-endian
const (
	objectHead  = 16
	objectMagic = "jcobj\x00"
	asItIs      = 0
	compressed  = 1
)

var (
	errObject = errors.New("the stored value is not an entry")
	errBomb   = errors.New("the stored value has another size than it states")
)

// worthwhile is the smallest entry that is compressed. The cost of a smaller one is the round
// trip alone.
const worthwhile = 1 << 10

// Both may be used by several goroutines at once.
var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(boundsMemory), zstd.WithDecoderConcurrency(4),
		zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderMaxMemory(1<<30))
)

// packEntry returns an entry as an engine keeps it.
func packEntry(entry []byte) []byte {
	head := append(make([]byte, 0, objectHead+len(entry)), objectMagic...)
	head = append(head, asItIs, 1)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(entry)))
	if len(entry) >= worthwhile {
		head[6] = compressed
		if whole := encoder.EncodeAll(entry, head); len(whole) < objectHead+len(entry) {
			return whole
		}
		head[6] = asItIs
	}
	return append(head[:objectHead], entry...)
}

// unpack returns the entry of an object, of at most limit bytes. It uses no more memory than
// that, whatever the object contains.
func unpack(object []byte, limit int64) ([]byte, error) {
	if len(object) < objectHead || string(object[:6]) != objectMagic || object[7] != 1 {
		return nil, errObject
	}
	size := binary.LittleEndian.Uint64(object[8:])
	if size > uint64(limit) {
		return nil, errBomb
	}
	data := object[objectHead:]
	switch object[6] {
	case asItIs:
	case compressed:
		// The decoder fills this buffer and no more; untouched pages take no memory.
		var err error
		if data, err = decoder.DecodeAll(data, make([]byte, 0, size)); err != nil {
			return nil, errBomb
		}
	default:
		return nil, errObject
	}
	if uint64(len(data)) != size {
		return nil, errBomb
	}
	return data, nil
}
