// Entry files that are not what they seem.

package store

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/zeebo/xxh3"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// forge returns the file of an entry with records that an attacker chooses.
func forge(k *key.Key, payload string, records []byte) []byte {
	attrs := append([]byte{0}, records...)
	return appendFooter(append([]byte(payload), attrs...), &footer{
		attributes: uint32(len(attrs)), payload: uint64(len(payload)), payloadSum: sumPayload([]byte(payload)),
		attributesSum: xxh3.Hash(attrs), id: k.ID, kind: []byte(k.Kind), created: 1,
	})
}

func parsed(t *testing.T, file []byte, k *key.Key) Reason {
	t.Helper()
	b, err := blob.New(len(file))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	copy(b.Buffer(), file)
	return Parse(b, &k.ID)
}

// If others may write the directory, a file may be replaced before it is read. If the new
// file is a good, shorter entry, a search for signatures after the payload must not go
// beyond its end.
//
//jitcache:control shorter
func TestFileThatHasShrunkWhenItIsReadIsAMiss(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, []byte("payload"))
	good, err := os.ReadFile(s.fileOf(k))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.fileOf(k), []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	swapped := false
	setFault(t, func(op Op, _ string) (syscall.Errno, int) {
		if op == OpRead && !swapped {
			swapped = true
			os.WriteFile(s.fileOf(k), good, 0o600)
		}
		return 0, -1
	})
	if b, why := s.Get(&k.ID); why != Truncated {
		t.Errorf("%v, of %d bytes in %d", why, len(good), b.Capacity())
	}
	if got, why := get(t, s, k); why != None || string(got) != "payload" {
		t.Errorf("the next lookup: %q, %v", got, why)
	}
}

// Each signature takes its time: an entry with half a million of them would take half a minute.
//
//jitcache:control manysigners
func TestEntryHasSoManySignaturesAtMost(t *testing.T) {
	k := testKey(t, 1)
	signature := appendRecord(nil, tagSignature, make([]byte, signatureSize), "")
	for n, want := range map[int]Reason{mostSignatures: None, mostSignatures + 1: Malformed, 500_000: Malformed} {
		if why := parsed(t, forge(k, "payload", bytes.Repeat(signature, n)), k); why != want {
			t.Errorf("%d signatures: %v, want %v", n, why, want)
		}
	}
	s := open(t)
	put(t, s, k, []byte("payload"))
	for n := range mostSignatures + 1 {
		b, why := s.Get(&k.ID)
		if why != None {
			t.Fatal(n, why)
		}
		want := None
		if n == mostSignatures {
			want = TooLarge
		}
		if why := s.AddSignature(b, make([]byte, signatureSize)); why != want {
			t.Errorf("signature %d: %v, want %v", n, why, want)
		}
		b.Release()
	}
	if got, why := get(t, s, k); why != None {
		t.Errorf("%q, %v", got, why)
	}
}

// A bundle of some kilobytes can have names of gigabytes, and listing it would keep them in
// memory.
//
//jitcache:control manysigners
func TestEntryWhoseNameNoKeyHasIsNotTaken(t *testing.T) {
	k := testKey(t, 1)
	for size, want := range map[int]Reason{key.MaxName: None, key.MaxName + 1: Malformed, 30 << 20: Malformed} {
		record := appendRecord(nil, tagName, nil, strings.Repeat("n", size))
		if why := parsed(t, forge(k, "payload", record), k); why != want {
			t.Errorf("%d bytes: %v, want %v", size, why, want)
		}
	}
}
