// Public and secret keys: their text, their files.

package trust

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Public is a public key, by which signatures are verified.
type Public [ed25519.PublicKeySize]byte

// Secret is a secret key, which signs.
type Secret struct{ key ed25519.PrivateKey }

// As text a public key is "ed25519:" and its bytes, and a secret key "secret-ed25519:"
// and its seed; both in base64url without padding.
const (
	publicPrefix = "ed25519:"
	secretPrefix = "secret-ed25519:"
)

var encoding = base64.RawURLEncoding.Strict()

// String returns the key as text.
func (p Public) String() string { return publicPrefix + encoding.EncodeToString(p[:]) }

// ParsePublic reads a key as String writes it.
func ParsePublic(text string) (p Public, err error) {
	rest, ok := strings.CutPrefix(text, publicPrefix)
	b, err := encoding.DecodeString(rest)
	if !ok || err != nil || len(b) != len(p) {
		return p, fmt.Errorf("%.80q is not a key: want %s and 43 letters", text, publicPrefix)
	}
	return Public(b), nil
}

// NewSecret makes a key. It reads the seed from the kernel: package crypto/rand would add
// a generator of its own to the library.
func NewSecret() (Secret, error) {
	var seed [ed25519.SeedSize]byte
	f, err := os.Open("/dev/urandom")
	if err != nil {
		return Secret{}, err
	}
	defer f.Close()
	if _, err := io.ReadFull(f, seed[:]); err != nil {
		return Secret{}, err
	}
	return Secret{ed25519.NewKeyFromSeed(seed[:])}, nil
}

// String returns the key as text. Whoever has it can sign.
func (s Secret) String() string { return secretPrefix + encoding.EncodeToString(s.key.Seed()) }

// Public returns the public key that belongs to a secret one.
func (s Secret) Public() Public { return Public(s.key.Public().(ed25519.PublicKey)) }

// ReadSecret reads a key from a file that nobody else may write. The key is the first
// line that is neither empty nor begins with #.
func ReadSecret(path string) (s Secret, err error) {
	text, err := ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		rest, ok := strings.CutPrefix(line, secretPrefix)
		seed, err := encoding.DecodeString(rest)
		if !ok || err != nil || len(seed) != ed25519.SeedSize {
			break
		}
		return Secret{ed25519.NewKeyFromSeed(seed)}, nil
	}
	return s, fmt.Errorf("%s: there is no secret key in it", path)
}

// Exposed says that others may read a secret key, "" if they may not. As with ssh, only a
// file of this user's is asked: for another's, such as one that root provides to a
// container, its owner decides who reads it.
func Exposed(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("%s: others may read the signing key (mode %04o), and sign as you; to end that: chmod go= %s", path, info.Mode().Perm(), path)
}

// WriteSecret writes a key to a new file that only this user may read. It fails if the
// file exists.
func WriteSecret(path string, s Secret) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "# jitcache: signs entries. Whoever has this can sign as you. Its other half:\n# %s\n%s\n", s.Public(), s)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(path) // what is cut off is no key, and would stop the next try
	}
	return err
}
