// Signatures and other records in the attributes of an entry.

package store

import (
	"encoding/binary"
	"syscall"

	"github.com/zeebo/xxh3"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// Records are the attributes of an entry that say who has made it, as bytes whose
// meaning package trust knows.
type Records struct {
	// Plain are the attributes without the signatures.
	Plain      []byte
	Signatures [][]byte
	// Words are the keys on whose word the entry rests, one after the other.
	Words []byte
}

// ReadRecords returns the records of an entry that Get has returned.
func ReadRecords(b *blob.Blob) Records {
	whole := b.Buffer()
	attrs := whole[len(b.Data()) : len(whole)-footerSize]
	r := Records{Plain: append([]byte(nil), attrs[:1]...)}
	for off := 1; off < len(attrs); {
		end := off + recordOverhead + int(binary.LittleEndian.Uint32(attrs[off+1:]))
		data := attrs[off+5 : end-1]
		switch attrs[off] {
		case tagSignature:
			r.Signatures = append(r.Signatures, data)
		case tagWords:
			r.Words = append(r.Words, data...)
		}
		if attrs[off] != tagSignature {
			r.Plain = append(r.Plain, attrs[off:end]...)
		}
		off = end
	}
	return r
}

// GetOwn is Peek for an entry that this user has stored: WrongOwner if another user has.
func (s *Store) GetOwn(id *key.ID) (*blob.Blob, Reason) {
	var st syscall.Stat_t
	fd, why := s.openEntry(id, &st)
	if why != None {
		return nil, why
	}
	defer closeFd(fd)
	if st.Uid != s.trust.euid {
		return nil, WrongOwner
	}
	return s.readOpened(fd, &st, id)
}

// withRecord returns the attributes and the footer of an entry with one more record.
// attrs and foot are of an entry that was verified.
func withRecord(attrs, foot []byte, tag byte, data []byte) []byte {
	f, _ := parseFooter(foot, -1)
	trailer := appendRecord(append([]byte(nil), attrs...), tag, data, "")
	f.attributes, f.attributesSum = uint32(len(trailer)), xxh3.Hash(trailer)
	return appendFooter(trailer, &f)
}
