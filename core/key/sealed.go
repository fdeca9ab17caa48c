// Keys and inputs as bytes, in which they pass from one language to another.

package key

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"jitcache/core/stamp"
)

// A sealed key is a Key as bytes, for pickling and for passing it between the
// languages. Little-endian:
//
//	magic    8   "jckey" 0 0 2
//	id      32
//	kind    16   padded with NUL
//	name     2   length, then the bytes
//	parts    4   count, then per part: short 8, label length 2, label
//	inputs   4   count, then per input: tag 1, dev 8, ino 8, size 8, mtime 8,
//	             ctime 8, read 8, mount 8, value 32, path length 2, path
//
// The first three fields have fixed places, so that a lookup needs no parsing.
// Version 1 has no mount, so its stamps prove nothing.
const (
	sealedMagic = "jckey\x00\x00\x02"
	sealedOld   = "jckey\x00\x00\x01"
)

// Offsets of the fixed fields of a sealed key.
const (
	SealedID   = 8
	SealedKind = SealedID + 32
	sealedHead = SealedKind + MaxKind
)

var errSealed = errors.New("sealed key: malformed")

// Append appends the sealed form of k to dst.
func (k *Key) Append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, sealedMagic...)
	dst = append(dst, k.ID[:]...)
	var kind [MaxKind]byte
	copy(kind[:], k.Kind)
	dst = append(dst, kind[:]...)
	dst = appendString(dst, k.Name)
	dst = le.AppendUint32(dst, uint32(len(k.Parts)))
	for _, p := range k.Parts {
		dst = append(dst, p.Short[:]...)
		dst = appendString(dst, p.Label)
	}
	dst = le.AppendUint32(dst, uint32(len(k.Inputs)))
	for _, in := range k.Inputs {
		dst = in.appendTo(dst)
	}
	return dst
}

func (in Input) appendTo(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, byte(in.Tag))
	for _, v := range []uint64{in.Dev, in.Ino, in.Size, uint64(in.Mtime), uint64(in.Ctime), uint64(in.Read), in.Mount} {
		dst = le.AppendUint64(dst, v)
	}
	dst = append(dst, in.Value[:]...)
	return appendString(dst, in.Path)
}

func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// ParseSealed reads what Append wrote. The Key does not alias b.
func ParseSealed(b []byte) (*Key, error) {
	if len(b) < sealedHead || string(b[:SealedID]) != sealedMagic && string(b[:SealedID]) != sealedOld {
		return nil, errSealed
	}
	k := &Key{ID: ID(b[SealedID:])}
	k.Kind = string(bytes.TrimRight(b[SealedKind:sealedHead], "\x00"))
	if err := CheckKind(k.Kind); err != nil {
		return nil, fmt.Errorf("sealed key: %w", err)
	}
	r := reader{b[sealedHead:], true, string(b[:SealedID]) == sealedOld}
	k.Name = r.takeText(MaxName)
	if n := r.takeCount(10); n > 0 { // a part is at least 10 bytes
		k.Parts = make([]Part, n)
	}
	for i := range k.Parts {
		copy(k.Parts[i].Short[:], r.takeBytes(8))
		k.Parts[i].Label = r.takeText(MaxLabel)
		if i > 0 && k.Parts[i].Label <= k.Parts[i-1].Label {
			r.ok = false
		}
	}
	if n := r.takeCount(83); n > 0 { // an input is at least 83, of version 1
		k.Inputs = make([]Input, n)
	}
	for i := range k.Inputs {
		k.Inputs[i] = r.input()
	}
	if !r.ok || len(r.b) != 0 {
		return nil, errSealed
	}
	return k, nil
}

// reader takes fields off a byte slice. If a field is missing, ok becomes false, and
// all further fields are zero.
type reader struct {
	b   []byte
	ok  bool
	old bool // version 1
}

func (r *reader) takeBytes(n int) []byte {
	if n > len(r.b) {
		r.ok = false
		r.b = nil
	}
	if !r.ok {
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) u64() uint64 {
	if v := r.takeBytes(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (r *reader) takeText(limit int) string {
	v := r.takeBytes(2)
	if v == nil {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(v))
	if n > limit {
		r.ok = false
	}
	return string(r.takeBytes(n))
}

// takeCount reads the number of items that follow, each of at least size bytes: a
// larger number is refused before anything is allocated for it.
func (r *reader) takeCount(size int) int {
	v := r.takeBytes(4)
	if v == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(v)
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.ok = false
		return 0
	}
	return int(n)
}

func (r *reader) input() Input {
	var in Input
	if v := r.takeBytes(1); v != nil {
		in.Tag = Tag(v[0])
	}
	in.Dev, in.Ino, in.Size = r.u64(), r.u64(), r.u64()
	in.Mtime, in.Ctime, in.Read = int64(r.u64()), int64(r.u64()), int64(r.u64())
	in.Mount = stamp.NoMount
	if !r.old {
		in.Mount = r.u64()
	}
	copy(in.Value[:], r.takeBytes(32))
	in.Path = r.takeText(MaxPath)
	if !in.Tag.ofInput() {
		r.ok = false
	}
	return in
}

// AppendInput appends an input in the form that it has in a sealed key.
func AppendInput(dst []byte, in Input) []byte { return in.appendTo(dst) }

// ParseInputs reads inputs, one after the other, as AppendInput wrote them.
func ParseInputs(b []byte) ([]Input, error) {
	r := reader{b, true, false}
	var ins []Input
	for r.ok && len(r.b) > 0 {
		ins = append(ins, r.input())
	}
	if !r.ok {
		return nil, errors.New("key inputs: malformed")
	}
	return ins, nil
}
