// Parts of requests, and the bounded table.

package request

import (
	"errors"
	"strings"
	"testing"
)

func TestPartsAreReadInOrder(t *testing.T) {
	var got []string
	err := ReadParts([]byte("a\x01\x00\x00\x00\x00\x00\x00\x00xb\x00\x00\x00\x00\x00\x00\x00\x00"), func(letter byte, value []byte) error {
		got = append(got, string(letter)+string(value))
		return nil
	})
	if err != nil || strings.Join(got, " ") != "ax b" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPartsThatAreNotWholeAreMalformed(t *testing.T) {
	for _, text := range []string{"a", "a\x01\x00\x00\x00\x00\x00\x00\x00", "a\xff\xff\xff\xff\xff\xff\xff\xffx"} {
		if err := ReadParts([]byte(text), func(byte, []byte) error { return nil }); err != ErrParts {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTableIsBoundedAndMakesAValueOnce(t *testing.T) {
	table, made := NewTable[int, int](3), 0
	for n := range 10 {
		for range 2 {
			v, err := table.Get(n, func() (int, error) { made++; return n * n, nil })
			if v != n*n || err != nil {
				t.Errorf("%d: %d, %v", n, v, err)
			}
		}
	}
	if made != 10 || table.Len() != 3 {
		t.Errorf("%d were made and %d are kept, want 10 and 3", made, table.Len())
	}
}

func TestTableKeepsNothingOfAnError(t *testing.T) {
	table := NewTable[int, int](3)
	if _, err := table.Get(1, func() (int, error) { return 1, errors.New("no") }); err == nil || table.Len() != 0 {
		t.Errorf("%v, %d are kept", err, table.Len())
	}
}
