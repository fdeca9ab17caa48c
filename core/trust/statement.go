package trust

import (
	"crypto/ed25519"
	"encoding/binary"

	"jitcache/core/key"
)

// Statement is what a signature says: that this payload, with these attributes, is what
// a process of the signer's user has stored under this key.
type Statement struct {
	ID            key.ID
	Kind          string
	Created, Cost int64
	Payload       []byte
	// Attributes are as they stand in the entry, without the signatures.
	Attributes []byte
}

// Signature is one on a statement, and whose.
type Signature struct {
	By  Public
	Sig [ed25519.SignatureSize]byte
}

// SignatureSize is the size of a signature in an entry: the key, then what it has signed.
const SignatureSize = ed25519.PublicKeySize + ed25519.SignatureSize

// Append appends the signature as it stands in an entry.
func (s *Signature) Append(dst []byte) []byte {
	return append(append(dst, s.By[:]...), s.Sig[:]...)
}

// ParseSignature reads what Append has written.
func ParseSignature(b []byte) (s Signature, ok bool) {
	if len(b) != SignatureSize {
		return s, false
	}
	copy(s.By[:], b)
	copy(s.Sig[:], b[len(s.By):])
	return s, true
}

const messageHead = "jitcache signature 1\n"

// Message returns the bytes that are signed; docs/format.md has them.
func (s *Statement) Message(namespace string) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), messageHead...)
	b = le.AppendUint16(b, uint16(len(namespace)))
	b = append(b, namespace...)
	b = append(b, s.ID[:]...)
	var kind [key.MaxKind]byte
	copy(kind[:], s.Kind)
	b = append(b, kind[:]...)
	b = le.AppendUint64(b, uint64(s.Created))
	b = le.AppendUint64(b, uint64(s.Cost))
	b = le.AppendUint64(b, uint64(len(s.Payload)))
	payload, attributes := key.Sum(s.Payload), key.Sum(s.Attributes)
	b = append(b, payload[:]...)
	return append(b, attributes[:]...)
}

// Sign signs a statement.
func (s Secret) Sign(st *Statement, namespace string) Signature {
	sig := Signature{By: s.Public()}
	copy(sig.Sig[:], ed25519.Sign(s.key, st.Message(namespace)))
	return sig
}

// Holds reports whether a signature is of a message.
func (s *Signature) Holds(message []byte) bool {
	return !checkSignature || ed25519.Verify(s.By[:], message, s.Sig[:])
}
