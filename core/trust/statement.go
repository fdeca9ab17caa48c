// What a signature states of an entry, and the signature as bytes.

package trust

import (
	"crypto/ed25519"
	"encoding/binary"

	"jitcache/core/key"
)

// Statement is what a signature states: a process of the signer's user has stored this
// payload, with these attributes, under this key.
type Statement struct {
	ID            key.ID
	Kind          string
	Created, Cost int64
	Payload       []byte
	// Attributes are the bytes of the entry's attributes, without the signatures.
	Attributes []byte
}

// Signature is a signature on a statement, and the key that has made it.
type Signature struct {
	By  Public
	Sig [ed25519.SignatureSize]byte
}

// SignatureSize is the size of a signature in an entry: the public key, then its
// signature.
const SignatureSize = ed25519.PublicKeySize + ed25519.SignatureSize

// Append appends the signature in the form that it has in an entry.
func (s *Signature) Append(dst []byte) []byte {
	return append(append(dst, s.By[:]...), s.Sig[:]...)
}

// ParseSignature reads a signature as Append writes it.
func ParseSignature(b []byte) (s Signature, ok bool) {
	if len(b) != SignatureSize {
		return s, false
	}
	copy(s.By[:], b)
	copy(s.Sig[:], b[len(s.By):])
	return s, true
}

const messageHead = "jitcache signature 1\n"

// Message returns the bytes that are signed; docs/format.md specifies them.
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

// Holds reports whether the signature is a valid one of a message.
func (s *Signature) Holds(message []byte) bool {
	return !checkSignature || ed25519.Verify(s.By[:], message, s.Sig[:])
}
