// Every flipped bit and every truncation of an entry is found.

package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"jitcache/core/key"
)

// entryFile returns the bytes of an entry file.
func entryFile(t testing.TB, k *key.Key, payload []byte, attributes string) []byte {
	t.Helper()
	trailer, _ := (&Item{Key: k, Payload: payload, Attributes: attributes}).makeTrailer(12345)
	return append(slices.Clone(payload), trailer...)
}

func TestTrailerIsSmall(t *testing.T) {
	b := key.NewBuilder()
	for _, label := range []string{"source", "options", "arch", "nvrtc", "headers", "defines", "abi", "schema"} {
		b.Add(label, []byte(label))
	}
	k, _ := b.Seal()
	if n := len(entryFile(t, k, nil, "")); n >= 500 {
		t.Errorf("the trailer of an entry with 8 components has %d bytes, want under 500", n)
	}
}

//jitcache:control nochecksum
//jitcache:control nofooter
func TestEveryFlippedBitIsFound(t *testing.T) {
	k := testKey(t, 1)
	good := entryFile(t, k, []byte("the payload"), `{"a":1}`)
	if _, _, why := verifyEntry(good, &k.ID); why != None {
		t.Fatalf("the entry itself: %v", why)
	}
	for i := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			if _, _, why := verifyEntry(bad, &k.ID); why == None {
				t.Fatalf("byte %d bit %d: not found", i, bit)
			}
		}
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	k := testKey(t, 1)
	good := entryFile(t, k, []byte("the payload"), `{"a":1}`)
	for n := range good {
		if _, _, why := verifyEntry(good[:n], &k.ID); why == None {
			t.Fatalf("the first %d of %d bytes are an entry", n, len(good))
		}
	}
}

func TestSumInStepsIsTheSame(t *testing.T) {
	for _, n := range []int{0, 1, sumStep - 1, sumStep, sumStep + 1, 3*sumStep + 17} {
		p := payload(n, n)
		if got, want := sumPayload(p), xxh3.Hash128(p); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

// FuzzVerify gives arbitrary bytes a footer whose own checksum is right, so that
// the fuzzer gets past it.
func FuzzVerify(f *testing.F) {
	k := testKey(f, 1)
	f.Add(entryFile(f, k, []byte("payload"), `{"a":1}`), true)
	f.Add(entryFile(f, k, nil, ""), false)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		b := slices.Clone(data)
		if mend && len(b) >= footerSize {
			foot := b[len(b)-footerSize:]
			copy(foot, footerMagic)
			binary.LittleEndian.PutUint32(foot[8:], formatVersion)
			copy(foot[48:], k.ID[:])
			// If the lengths allow it, the attributes' checksum is made right too.
			n, p := uint64(binary.LittleEndian.Uint32(foot[12:])), binary.LittleEndian.Uint64(foot[16:])
			if p <= uint64(len(b)) && p+n+footerSize == uint64(len(b)) {
				binary.LittleEndian.PutUint64(foot[40:], xxh3.Hash(b[p:p+n]))
			}
			binary.LittleEndian.PutUint64(foot[120:], xxh3.Hash(foot[:120]))
		}
		foot, a, why := verifyEntry(b, &k.ID)
		if why != None {
			return
		}
		if foot.payload+uint64(foot.attributes)+footerSize != uint64(len(b)) {
			t.Errorf("lengths %d, %d of %d bytes", foot.payload, foot.attributes, len(b))
		}
		attrs := b[foot.payload : len(b)-footerSize]
		if a.name >= 0 && attrs[a.name+a.nameLen] != 0 || a.caller >= 0 && attrs[a.caller+a.callerLen] != 0 {
			t.Error("a text without its NUL")
		}
	})
}

func FuzzAttributes(f *testing.F) {
	f.Add(appendAttributes(nil, testKey(f, 1), `{"a":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, ok := parseAttributes(data, true)
		if !ok {
			return
		}
		if a.name >= 0 && !bytes.Contains(data, data[a.name:a.name+a.nameLen+1]) {
			t.Error("name out of bounds")
		}
	})
}

func FuzzLedger(f *testing.F) {
	f.Add(new(ledger).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == ledgerSize {
			binary.LittleEndian.PutUint64(data[ledgerSum:], xxh3.Hash(data[:ledgerSum]))
		}
		if l, ok := parseLedger(data); ok {
			l.total()
			l.kinds.byKind()
		}
	})
}

func FuzzNames(f *testing.F) {
	r := nameRecord{1, []Named{{testKey(f, 1), 2}, {testKey(f, 2), 3}}}
	f.Add(r.encode())
	f.Fuzz(func(t *testing.T, data []byte) { parseNameRecord(data) })
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"0", "5G", "5Gi", "1.5M", "-1", "9e99T", "GiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseSize(s); err == nil && n < 0 {
			t.Errorf("%q is %d", s, n)
		}
	})
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1": 1, "1000": 1000, "5G": 5e9, "5Gi": 5 << 30, "5GB": 5e9, "5GiB": 5 << 30, "1.5k": 1500,
		"2Ki": 2048, "10M": 10e6, "10 Mi": 10 << 20, "1T": 1e12, " 7 ": 7,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "G", "i", "5i", "-1", "5X", "nan", "inf", "1e30", "5 G G"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
}

func TestLedgerComesBackWhole(t *testing.T) {
	l := &ledger{swept: 1, zeroed: 2, cursor: 3, refused: refusalNote{4, NoSpace}}
	for i := range l.cells {
		l.cells[i] = cell{uint64(i) * 1000, uint64(i)}
	}
	l.kinds.at([]byte("cubin"))[Puts] = 7
	l.kinds.at([]byte("native"))[counterSlots-1] = 8
	got, ok := parseLedger(l.encode())
	if !ok || *got != *l {
		t.Errorf("came back as %+v, %v", got, ok)
	}
	for _, at := range []int{0, 8, 64, 5000, ledgerSum} {
		b := l.encode()
		b[at] ^= 1
		if _, ok := parseLedger(b); ok {
			t.Errorf("byte %d changed: not found", at)
		}
	}
}

//jitcache:control noclamp
func TestCellsNeverGoBelowZero(t *testing.T) {
	l := new(ledger)
	l.cells[0] = cell{100, 1}
	l.apply(0, change{-1000, -5})
	if l.cells[0] != (cell{}) {
		t.Errorf("cell %+v", l.cells[0])
	}
	if total, _ := l.total(); total != 0 {
		t.Errorf("total %d", total)
	}
	l.cells[1].count = unknownCount
	l.apply(1, change{5, 1})
	if l.cells[1].count != unknownCount {
		t.Errorf("an unknown cell has become %+v", l.cells[1])
	}
}
