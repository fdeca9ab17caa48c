// Signatures, keys as text, and which keys are trusted.

package trust

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jitcache/core/key"
)

var update = flag.Bool("update", false, "write the golden vectors")

const golden = "../../tests/golden/signatures.json"

// vector is a signature with all that goes into it, in hexadecimal except for texts.
type vector struct {
	Secret     string `json:"secret"`
	Public     string `json:"public"`
	Namespace  string `json:"namespace"`
	ID         string `json:"key"`
	Kind       string `json:"kind"`
	Created    int64  `json:"created"`
	Cost       int64  `json:"cost"`
	Payload    string `json:"payload"`
	Attributes string `json:"attributes"`
	Message    string `json:"message"`
	Signature  string `json:"signature"`
}

func fixed(n byte) Secret {
	var seed [ed25519.SeedSize]byte
	for i := range seed {
		seed[i] = n + byte(i)
	}
	return Secret{ed25519.NewKeyFromSeed(seed[:])}
}

func vectors() (all []vector) {
	for i, v := range []struct {
		namespace, kind, payload, attributes string
		created, cost                        int64
	}{
		{"", "generic", "", "\x00", 0, 0},
		{"", "cubin", "code", "\x00\x01\x05\x00\x00\x00saxpy\x00", 1700000000123456789, 2500000000},
		{"a project", "native", strings.Repeat("\x7fELF", 700), "\x00", -1, 1 << 40},
		{"größe", "sixteen-letters_", "x", "\x00\x03\x02\x00\x00\x00{}\x00", 1, 1},
	} {
		s := fixed(byte(i))
		st := Statement{key.ID(key.Sum([]byte{byte(i)})), v.kind, v.created, v.cost, []byte(v.payload), []byte(v.attributes)}
		sig := s.Sign(&st, v.namespace)
		h := hex.EncodeToString
		all = append(all, vector{
			s.String(), s.Public().String(), v.namespace, st.ID.String(), v.kind, v.created, v.cost, h(st.Payload), h(st.Attributes),
			h(st.Message(v.namespace)), h(sig.Append(nil)),
		})
	}
	return all
}

func TestSignaturesAreThoseOfTheGoldenVectors(t *testing.T) {
	text, err := json.MarshalIndent(vectors(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		os.WriteFile(golden, text, 0o644)
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != string(text) {
		t.Errorf("%s has others: %v", golden, err)
	}
}

//jitcache:control anysignature
func TestEveryByteOfAStatementIsSigned(t *testing.T) {
	s := fixed(1)
	st := Statement{Kind: "cubin", Payload: []byte("payload"), Attributes: []byte{0}}
	sig := s.Sign(&st, "ns")
	message := st.Message("ns")
	if !sig.Holds(message) {
		t.Fatal("it does not hold")
	}
	for i := range message {
		message[i] ^= 1
		if sig.Holds(message) {
			t.Errorf("it holds with byte %d changed", i)
		}
		message[i] ^= 1
	}
	for _, other := range []Statement{
		{ID: key.ID{1}, Kind: "cubin", Payload: []byte("payload"), Attributes: []byte{0}},
		{Kind: "cubi", Payload: []byte("payload"), Attributes: []byte{0}},
		{Kind: "cubin", Payload: []byte("payloae"), Attributes: []byte{0}},
		{Kind: "cubin", Payload: []byte("payload"), Attributes: []byte{0, 0}},
		{Kind: "cubin", Created: 1, Payload: []byte("payload"), Attributes: []byte{0}},
		{Kind: "cubin", Cost: 1, Payload: []byte("payload"), Attributes: []byte{0}},
	} {
		if sig.Holds(other.Message("ns")) {
			t.Errorf("it holds for %+v", other)
		}
	}
	if sig.Holds(st.Message("")) || sig.Holds(st.Message("nsx")) {
		t.Error("it holds in another namespace")
	}
}

func TestKeysAsTexts(t *testing.T) {
	s := fixed(7)
	p, err := ParsePublic(s.Public().String())
	if err != nil || p != s.Public() {
		t.Error(p, err)
	}
	for _, bad := range []string{"", "ed25519:", "ed25519:AAAA", s.Public().String() + "A", s.Public().String()[1:], s.String(), "rsa:" + s.Public().String()} {
		if _, err := ParsePublic(bad); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := WriteSecret(path, s); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if got, err := ReadSecret(path); err != nil || got.Public() != s.Public() {
		t.Error(err)
	}
	if err := WriteSecret(path, s); err == nil {
		t.Error("an existing file was written over")
	}
	os.WriteFile(path, []byte("# nothing\n"+s.Public().String()+"\n"), 0o600)
	if _, err := ReadSecret(path); err == nil || strings.Contains(err.Error(), s.String()) {
		t.Error(err)
	}
}

//jitcache:control nowithdrawal
func TestKeyThatAnybodyWithdrawsIsNotTrusted(t *testing.T) {
	a, b := fixed(1).Public(), fixed(2).Public()
	user, machine := t.TempDir(), t.TempDir()
	for _, known := range []Known{{Key: a, Name: "CI"}, {Key: b, Name: "a friend"}, {Key: b, Name: "a friend"}, {Key: a, Name: "CI again"}} {
		if err := Note(machine, known); err != nil {
			t.Fatal(err)
		}
	}
	k := ReadKeys(environment(nil), []string{user, machine}, "")
	if len(k.All) != 2 || !k.Trusts(a) || !k.Trusts(b) || k.AnyWithdrawn() || len(k.Problems) != 0 || k.All[1].Name != "CI again" {
		t.Errorf("%+v", k)
	}
	if err := Note(user, Known{Key: a, Withdrawn: true}); err != nil {
		t.Fatal(err)
	}
	k = ReadKeys(environment(map[string]string{"JITCACHE_KEYS": a.String() + ",nonsense"}), []string{user, machine}, "")
	if k.Trusts(a) || !k.Withdraws(a) || !k.Trusts(b) || !k.AnyWithdrawn() || len(k.Problems) != 1 {
		t.Errorf("%+v", k)
	}
	if err := Note(user, Known{Key: a}); err != nil {
		t.Fatal(err)
	}
	if k = ReadKeys(environment(nil), []string{user, machine}, ""); !k.Trusts(a) {
		t.Errorf("%+v", k)
	}
	os.Chmod(KeysFile(user), 0o666)
	if k = ReadKeys(environment(nil), []string{user}, ""); len(k.All) != 0 || len(k.Problems) != 1 {
		t.Errorf("%+v", k)
	}
}

// A namespace that is too long to sign for is not the empty one.
//
//jitcache:control nonamespace
func TestNamespaceThatIsTooLongIsNobodyElses(t *testing.T) {
	by := fixed(1)
	for size, want := range map[int]bool{0: true, 255: true, 256: false, 1 << 16: false} {
		namespace := strings.Repeat("x", size)
		k := ReadKeys(environment(map[string]string{"JITCACHE_KEYS": by.Public().String()}), nil, namespace)
		if (k.CheckNamespace() == nil) != want || (len(k.Problems) == 0) != want {
			t.Errorf("%d: %v, %q", size, k.CheckNamespace(), k.Problems)
		}
		st := &Statement{Kind: "cubin", Payload: []byte("payload")}
		for _, other := range []string{"", "x", namespace[:min(size, 255)]} {
			if accepted := k.Accepts(st, []Signature{by.Sign(st, other)}); accepted != (other == namespace) {
				t.Errorf("%d: what was signed for one of %d: %v", size, len(other), accepted)
			}
		}
	}
}

func TestKeyWithATimeIsWrittenAndReadAgain(t *testing.T) {
	a, folder := fixed(1).Public(), t.TempDir()
	at, err := ParseTime("2026-01-31T10:00:00.000000001Z")
	if err != nil {
		t.Fatal(err)
	}
	if err := Note(folder, Known{Key: a, Name: "not-before=1 CI", NotBefore: at}); err != nil {
		t.Fatal(err)
	}
	k := ReadKeys(environment(nil), []string{folder}, "")
	if len(k.All) != 1 || k.All[0].NotBefore != at || k.All[0].Name != "not-before=1 CI" || len(k.Problems) != 0 {
		t.Errorf("%+v", k)
	}
	if k.Rejects(a, at) || !k.Rejects(a, at-1) || !k.AnyWithdrawn() || !k.Trusts(a) {
		t.Error("another time counts")
	}
	// A bound that cannot be read must not be none.
	for _, bad := range []string{"soon", "", "2999-01-01", "1900-01-01"} {
		k = ReadKeys(environment(map[string]string{"JITCACHE_KEYS": "not-before=" + bad + " " + a.String()}), nil, "")
		if k.Trusts(a) || len(k.Problems) != 1 {
			t.Errorf("%q: %+v", bad, k)
		}
	}
}
