// The frames of the protocol, and lengths that are not believed.

package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
)

// The bytes are written down here as docs/format.md says them, for this machine's order.
func TestFramesAreThoseOfTheProtocol(t *testing.T) {
	eight := func(n uint64) []byte { return AppendSize(nil, n) }
	for name, c := range map[string]struct{ got, want []byte }{
		"greeting": {AppendGreeting(nil), []byte{1, 3, 0, 1, 0xC0}},
		"get":      {AppendText([]byte{Get}, "ab"), []byte{0, 2, 'a', 'b'}},
		"put":      {AppendValue(append(AppendText([]byte{Put}, "k"), Overwrite), []byte("v")), append(append([]byte{1, 1, 'k', 1}, eight(1)...), 'v')},
		"error":    {AppendErr(nil, "no"), []byte{2, 2, 'n', 'o'}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: %x, want %x", name, c.got, c.want)
		}
	}
	if n := eight(1); n[0]+n[7] != 1 {
		t.Errorf("one is %x", n)
	}
}

func TestGreetingOfAnotherVersionOrWithoutStorageIsRefused(t *testing.T) {
	for _, c := range []struct {
		bytes []byte
		ours  bool
		err   error
	}{
		{[]byte{1, 1, 0}, false, nil},
		{[]byte{1, 4, 9, 0, 2, 0xC0}, true, nil},
		{[]byte{2, 1, 0}, false, ErrVersion},
		{[]byte{1, 1, 1}, false, ErrNoStore},
		{[]byte{1, 0}, false, ErrNoStore},
		{[]byte{1, 3, 0}, false, io.ErrUnexpectedEOF},
		{nil, false, io.EOF},
	} {
		g, err := ReadGreeting(bytes.NewReader(c.bytes))
		if g.Jitcache != c.ours || !errors.Is(err, c.err) {
			t.Errorf("%x: %+v, %v", c.bytes, g, err)
		}
	}
}

//jitcache:control anyvalue
func TestLengthAboveTheBoundIsRefused(t *testing.T) {
	for _, n := range []uint64{101, math.MaxInt64, 1 << 63, math.MaxUint64} {
		r := io.MultiReader(bytes.NewReader(AppendSize(nil, n)), zeros{})
		if n > 1<<40 {
			r = bytes.NewReader(AppendSize(nil, n)) // a control build would read for ever
		}
		if _, err := ReadValue(r, 100); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestLengthAloneTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ReadValue(bytes.NewReader(AppendSize(nil, MaxValue)), MaxValue)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", took, err)
	}
}

func TestMessagesMayBeLogged(t *testing.T) {
	_, err := ReadStatus(bytes.NewReader(AppendErr(nil, "a\x1b[31m\nb\xff")))
	if err == nil || err.Error() != "a?[31m?b?" {
		t.Errorf("%q", err)
	}
}

// What has come whole is written again as it was.
func FuzzAnswers(f *testing.F) {
	f.Add(AppendValue([]byte{OK}, []byte("value")))
	f.Add(AppendErr(nil, "no"))
	f.Add([]byte{Noop})
	f.Add(AppendGreeting(nil))
	f.Add(AppendSize([]byte{OK}, math.MaxUint64))
	f.Fuzz(func(t *testing.T, data []byte) {
		ReadGreeting(bytes.NewReader(data))
		r := bytes.NewReader(data)
		status, err := ReadStatus(r)
		if err != nil || status != OK {
			return
		}
		value, err := ReadValue(r, 1<<16)
		if err != nil {
			return
		}
		if got := AppendValue([]byte{OK}, value); !bytes.HasPrefix(data, got) {
			t.Errorf("%x is read as %x", data, got)
		}
	})
}
