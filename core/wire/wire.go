// The messages of the protocol: requests, statuses, values, and their bounds.

package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Version is the version of the protocol, the first byte of a greeting.
const Version = 1

// Capabilities, as a greeting lists them. A client that does not know one ignores it:
// ccache 4.14.2 does.
const (
	CapStore    = 0x00 // Get, Put, Remove
	CapInfo     = 0x01 // Info
	CapJitcache = 0xC0 // the requests from Upload on
)

// Requests.
const (
	Get    byte = 0x00 // key; OK and a value, or Noop: there is none
	Put    byte = 0x01 // key, flags, value; OK, or Noop: not stored
	Remove byte = 0x02 // key; OK, or Noop: there was none
	Stop   byte = 0x03 // OK; the helper ends
	Info   byte = 0x04 // identity, a number of diagnostics; all of them texts

	// Ours. A directory is a value, its path.
	Upload byte = 0xC0 // directory; OK: what waits in its outbox will be sent
	// Flush is Upload, and waits: directory, milliseconds as a u64, a byte that is 1 if it is
	// not waited while the engine is down. OK: nothing waits any more, Noop: something does.
	Flush  byte = 0xC1
	Status byte = 0xC2 // OK and a value, JSON
	// Claim asks for the right to compile a key: key, milliseconds to wait as a u64, a byte
	// that is 1 if the client was told Theirs before. OK and one of the turns. A claim that
	// is Mine ends with the connection, or by Done.
	Claim byte = 0xC3
	Done  byte = 0xC4 // directory; OK: the claim ends once what waits in its outbox now is sent
	// Rejected says that the entry that a Get gave was not used: a text, why; OK.
	Rejected byte = 0xC5
	// Fetch is many requests to Get as one: a text that all keys begin with, how many as a
	// u64, up to MaxFetch, and 32 bytes for each. OK, and then what Get would answer, in
	// their order.
	Fetch byte = 0xC6
)

// Turns: what has become of a Claim.
const (
	Nobodys byte = 0x00 // there are no claims here: compile
	Mine    byte = 0x01 // compile, unless the result is there by now
	Theirs  byte = 0x02 // somebody compiles it: ask again
	Over    byte = 0x03 // who compiled it does not any more: look for the result, then ask again
)

// Overwrite is a flag of Put: a value that is there is replaced.
const Overwrite = 0x01

// Statuses, the first byte of every answer but that to Info.
const (
	OK   byte = 0x00
	Noop byte = 0x01
	Err  byte = 0x02 // a text follows
)

// Bounds.
const (
	MaxText  = 255     // bytes of a key or a message
	MaxValue = 1 << 30 // bytes of a value: no entry is as large (store.LargestOfAnybody)
	MaxPath  = 4096    // bytes of a directory's path
	MaxFetch = 8192    // keys of a Fetch
)

// Errors of what has come.
var (
	ErrVersion  = errors.New("it speaks another version of the protocol")
	ErrNoStore  = errors.New("it stores nothing")
	ErrTooLarge = errors.New("a value is too large")
	ErrStatus   = errors.New("the answer has an unknown status")
)

// Refused is an error that the other end has told.
type Refused string

func (r Refused) Error() string { return string(r) }

// OfEntry begins the text of an error that is of one entry alone, and says nothing of the
// others: what is there is damaged, or too large.
const OfEntry = "entry: "

// OfEntry reports whether it is such an error.
func (r Refused) OfEntry() bool { return strings.HasPrefix(string(r), OfEntry) }

// Greeting is what a helper says first.
type Greeting struct{ Jitcache bool }

// AppendGreeting appends the greeting of a helper of ours.
func AppendGreeting(dst []byte) []byte {
	return append(dst, Version, 3, CapStore, CapInfo, CapJitcache)
}

// ReadGreeting reads a greeting. A helper that cannot store is of no use.
func ReadGreeting(r io.Reader) (g Greeting, err error) {
	version, err := ReadByte(r)
	if err != nil {
		return g, err
	}
	if version != Version {
		return g, ErrVersion
	}
	capabilities, err := ReadText(r)
	if err != nil {
		return g, err
	}
	if bytes.IndexByte(capabilities, CapStore) < 0 {
		return g, ErrNoStore
	}
	g.Jitcache = bytes.IndexByte(capabilities, CapJitcache) >= 0
	return g, nil
}

// AppendText appends a key or a message; what is too long is cut.
func AppendText(dst []byte, text string) []byte {
	text = text[:min(len(text), MaxText)]
	return append(append(dst, byte(len(text))), text...)
}

// AppendSize appends a number, in the order of bytes of this machine.
func AppendSize(dst []byte, n uint64) []byte { return binary.NativeEndian.AppendUint64(dst, n) }

// AppendValue appends a value.
func AppendValue(dst, value []byte) []byte {
	return append(AppendSize(dst, uint64(len(value))), value...)
}

// AppendErr appends the answer that something has failed.
func AppendErr(dst []byte, why string) []byte { return AppendText(append(dst, Err), why) }

// ReadByte reads a byte.
func ReadByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

// ReadText reads a key or a message.
func ReadText(r io.Reader) ([]byte, error) {
	n, err := ReadByte(r)
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r, text)
	return text, whole(err)
}

// ReadSize reads a number.
func ReadSize(r io.Reader) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(r, b[:])
	return binary.NativeEndian.Uint64(b[:]), whole(err)
}

// ReadLength reads the length of a value, of at most limit bytes.
func ReadLength(r io.Reader, limit int64) (int, error) {
	n, err := ReadSize(r)
	if err == nil && bounded && n > uint64(limit) {
		err = ErrTooLarge
	}
	return int(n), err
}

// ReadValue reads a value of at most limit bytes.
func ReadValue(r io.Reader, limit int64) ([]byte, error) {
	n, err := ReadLength(r, limit)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer // grows as bytes come, whatever was announced
	_, err = io.CopyN(&b, r, int64(n))
	return b.Bytes(), whole(err)
}

// ReadStatus reads the first byte of an answer. An Err is returned as Refused.
func ReadStatus(r io.Reader) (byte, error) {
	status, err := ReadByte(r)
	switch {
	case err != nil:
		return status, whole(err)
	case status == Err:
		why, err := ReadText(r)
		if err == nil {
			err = Refused(printable(why))
		}
		return status, err
	case status > Err:
		return status, ErrStatus
	}
	return status, nil
}

// printable is a message that may be logged: one line, nothing that a terminal obeys.
func printable(text []byte) string {
	for i, c := range text {
		if c < ' ' || c > '~' {
			text[i] = '?'
		}
	}
	return string(text)
}

// whole returns what an end means in the middle of something.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
