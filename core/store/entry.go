// The bytes of an entry file: payload, attributes, footer, and their checksums.

package store

import (
	"bytes"
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// An entry file is payload, attributes, footer. docs/format.md specifies it for other
// readers; this file is the one implementation in Go.
//
// The footer, little-endian:
//
//	 0  8  magic
//	 8  4  format version
//	12  4  size of the attributes
//	16  8  size of the payload
//	24 16  XXH3-128 of the payload, high half first
//	40  8  XXH3-64 of the attributes
//	48 32  key
//	80 16  kind, padded with NUL
//	96  8  created, nanoseconds since 1970
//	104 8  time that the compile took, nanoseconds; 0 unknown
//	112 8  zero
//	120 8  XXH3-64 of the first 120 bytes
const (
	footerSize    = 128
	footerMagic   = "jitcache"
	formatVersion = 1
)

// footer is the parsed form of an entry's last 128 bytes.
type footer struct {
	attributes    uint32
	payload       uint64
	payloadSum    xxh3.Uint128
	attributesSum uint64
	id            key.ID
	kind          []byte // without padding
	created, cost int64
}

// maxAttributes bounds what a reader allocates for a trailer. A caller's
// attributes are lowered names and compiler messages, some kilobytes.
const maxAttributes = 64 << 20

// The attributes: a zero byte, which is the payload's NUL, then records in
// ascending order of their tag: tag (1 byte), length (4), bytes, a zero byte. A
// reader skips tags that it does not know.
const (
	tagName   = 1 // text
	tagPart   = 2 // short digest (8), label; one record per component
	tagCaller = 3 // JSON text

	tagSignature = 4 // key and signature (package trust); several
	tagWords     = 5 // keys on whose word the entry rests
)

const recordOverhead = 1 + 4 + 1

// signatureSize is the size of a signature, which package trust makes.
const signatureSize = 96

// mostSignatures bounds the signatures of an entry. Each takes 55 us to verify: as many
// as the attributes have room for would take half a minute.
const mostSignatures = 64

// attributeSize returns the number of bytes that appendAttributes appends.
func attributeSize(k *key.Key, caller string) int {
	n := 1
	if k.Name != "" {
		n += recordOverhead + len(k.Name)
	}
	for _, p := range k.Parts {
		n += recordOverhead + len(p.Short) + len(p.Label)
	}
	if caller != "" {
		n += recordOverhead + len(caller)
	}
	return n
}

func appendAttributes(dst []byte, k *key.Key, caller string) []byte {
	dst = append(dst, 0)
	if k.Name != "" {
		dst = appendRecord(dst, tagName, nil, k.Name)
	}
	for i := range k.Parts {
		dst = appendRecord(dst, tagPart, k.Parts[i].Short[:], k.Parts[i].Label)
	}
	if caller != "" {
		dst = appendRecord(dst, tagCaller, nil, caller)
	}
	return dst
}

func appendRecord(dst []byte, tag byte, head []byte, text string) []byte {
	dst = append(dst, tag)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(head)+len(text)))
	dst = append(dst, head...)
	dst = append(dst, text...)
	return append(dst, 0)
}

// attributes has the places of the records in the attributes' bytes.
type attributes struct {
	name, caller       int // offset of the text, -1 if there is none
	nameLen, callerLen int
	parts              []key.Part // only if they were wanted
}

// parseAttributes reads the records. It returns false if they are malformed.
func parseAttributes(b []byte, wantParts bool) (a attributes, ok bool) {
	a.name, a.caller = -1, -1
	signatures := 0
	if len(b) < 1 || b[0] != 0 {
		return a, false
	}
	for off := 1; off < len(b); {
		if len(b)-off < recordOverhead {
			return a, false
		}
		tag, size := b[off], binary.LittleEndian.Uint32(b[off+1:])
		text := off + 5
		if uint64(size) >= uint64(len(b)-text) {
			return a, false
		}
		end := text + int(size)
		if b[end] != 0 {
			return a, false
		}
		switch tag {
		case tagName:
			a.name, a.nameLen = text, int(size)
		case tagCaller:
			a.caller, a.callerLen = text, int(size)
		case tagSignature:
			if signatures++; signatures > mostSignatures && boundsWho {
				return a, false
			}
		case tagPart:
			if size < 8 {
				return a, false
			}
			if wantParts {
				a.parts = append(a.parts, key.Part{Short: key.Short(b[text:]), Label: string(b[text+8 : end])})
			}
		}
		off = end + 1
	}
	return a, true
}

// appendFooter appends the footer of an entry whose attributes are attrs.
func appendFooter(dst []byte, f *footer) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = append(dst, footerMagic...)
	dst = le.AppendUint32(dst, formatVersion)
	dst = le.AppendUint32(dst, f.attributes)
	dst = le.AppendUint64(dst, f.payload)
	dst = le.AppendUint64(dst, f.payloadSum.Hi)
	dst = le.AppendUint64(dst, f.payloadSum.Lo)
	dst = le.AppendUint64(dst, f.attributesSum)
	dst = append(dst, f.id[:]...)
	var kind [key.MaxKind]byte
	copy(kind[:], f.kind)
	dst = append(dst, kind[:]...)
	dst = le.AppendUint64(dst, uint64(f.created))
	dst = le.AppendUint64(dst, uint64(f.cost))
	dst = le.AppendUint64(dst, 0)
	return le.AppendUint64(dst, xxh3.Hash(dst[start:]))
}

// parseFooter reads the last bytes of a file of the given size. The kind it
// returns aliases b.
func parseFooter(b []byte, fileSize int64) (f footer, why Reason) {
	if len(b) < footerSize || string(b[:8]) != footerMagic {
		return f, Truncated
	}
	le := binary.LittleEndian
	if v := le.Uint32(b[8:]); v > formatVersion {
		return f, NewerFormat
	} else if v != formatVersion {
		return f, Malformed
	}
	if checkFooter && le.Uint64(b[120:]) != xxh3.Hash(b[:120]) {
		return f, Checksum
	}
	f.attributes = le.Uint32(b[12:])
	f.payload = le.Uint64(b[16:])
	f.payloadSum = xxh3.Uint128{Hi: le.Uint64(b[24:]), Lo: le.Uint64(b[32:])}
	f.attributesSum = le.Uint64(b[40:])
	f.id = key.ID(b[48:])
	f.kind = bytes.TrimRight(b[80:96], "\x00")
	f.created, f.cost = int64(le.Uint64(b[96:])), int64(le.Uint64(b[104:]))
	if f.attributes > maxAttributes || f.payload > uint64(fileSize) ||
		f.payload+uint64(f.attributes)+footerSize != uint64(fileSize) {
		return f, Truncated
	}
	return f, None
}

// verifyEntry checks a whole entry file in memory: that it is an entry of this key, and
// that every byte is as it was written.
func verifyEntry(b []byte, id *key.ID) (f footer, a attributes, why Reason) {
	if len(b) < footerSize {
		return f, a, Truncated
	}
	f, why = parseFooter(b[len(b)-footerSize:], int64(len(b)))
	if why != None {
		return f, a, why
	}
	if f.id != *id {
		return f, a, ForeignKey
	}
	if a, why = verifyAttributes(b[f.payload:len(b)-footerSize], &f); why != None {
		return f, a, why
	}
	if checkPayload && sumPayload(b[:f.payload]) != f.payloadSum {
		return f, a, Checksum
	}
	return f, a, None
}

func verifyAttributes(b []byte, f *footer) (attributes, Reason) {
	if checkPayload && xxh3.Hash(b) != f.attributesSum {
		return attributes{}, Checksum
	}
	a, ok := parseAttributes(b, false)
	if !ok {
		return a, Malformed
	}
	return a, None
}

// sumStep is how many bytes are hashed between two points where the Go scheduler can
// stop the loop; see package key's hasher. A megabyte takes some 20 us.
const sumStep = 1 << 20

func sumPayload(p []byte) xxh3.Uint128 {
	if len(p) <= sumStep {
		return xxh3.Hash128(p)
	}
	var h xxh3.Hasher128
	for len(p) > sumStep {
		h.Write(p[:sumStep])
		p = p[sumStep:]
	}
	h.Write(p)
	return h.Sum128()
}

// fill sets what the blob says about the entry in its buffer.
func fill(b *blob.Blob, f *footer, a attributes) {
	b.SetSize(int(f.payload))
	name, caller := -1, -1
	if a.name >= 0 {
		name = int(f.payload) + a.name
	}
	if a.caller >= 0 {
		caller = int(f.payload) + a.caller
	}
	b.SetTexts(caller, name)
	b.SetEntry((*[32]byte)(&f.id), f.kind, f.created, f.cost)
}
