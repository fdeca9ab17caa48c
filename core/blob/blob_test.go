// Blobs: their bytes, and how long they live.

package blob

import (
	"bytes"
	"testing"
	"unsafe"
)

func TestPayloadIsAlignedAndEndsInANul(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 1 << 20} {
		b, err := New(n)
		if err != nil {
			t.Fatal(err)
		}
		if p := uintptr(unsafe.Pointer(b.data)); p%Align != 0 {
			t.Errorf("%d bytes at %x, not a multiple of %d", n, p, Align)
		}
		if end := *(*byte)(unsafe.Add(unsafe.Pointer(b.data), n)); end != 0 {
			t.Errorf("byte behind %d bytes is %d", n, end)
		}
		b.Release()
	}
}

func TestBlobLivesUntilItsLastRelease(t *testing.T) {
	before := Live()
	b, err := New(10)
	if err != nil {
		t.Fatal(err)
	}
	copy(b.Buffer(), "0123456789")
	b.SetSize(4)
	b.Retain().Release()
	if Live() != before+1 || !bytes.Equal(b.Data(), []byte("0123")) {
		t.Errorf("%d live, data %q", Live()-before, b.Data())
	}
	b.Release()
	if Live() != before {
		t.Errorf("%d blobs left", Live()-before)
	}
}

func TestBlobOfTooManyBytesIsAnError(t *testing.T) {
	if b, err := New(1 << 62); err != ErrNoMemory {
		t.Errorf("%v, %v", b, err)
	}
}

func TestBlobKeepsItsEntry(t *testing.T) {
	b, err := New(32)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	copy(b.Buffer(), "payload\x00{}\x00name\x00")
	b.SetSize(7)
	b.SetTexts(8, 11)
	id := [32]byte{1, 2, 3}
	b.SetEntry(&id, []byte("sixteen-letters-"), 5, 6)
	b.SetFile(7, 8)
	at, cost := b.Created()
	dev, ino := b.File()
	if string(b.Data()) != "payload" || b.Attributes() != "{}" || b.Name() != "name" || b.Kind() != "sixteen-letters-" ||
		string(b.KindBytes()) != "sixteen-letters-" || b.ID() != id || at != 5 || cost != 6 || dev != 7 || ino != 8 {
		t.Errorf("%q %q %q %q %v %d %d %d %d", b.Data(), b.Attributes(), b.Name(), b.Kind(), b.ID(), at, cost, dev, ino)
	}
}
