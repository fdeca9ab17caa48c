// Messages to and from a worker.

package worker

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// The letters of parts; program/wire.h explains them.
const (
	partVariable   = 'v'
	partShown      = 'f'
	partUmask      = 'm'
	partName       = 'N'
	partSource     = 's'
	partHeader     = 'h'
	partText       = 't'
	partExpression = 'e'
	partOption     = 'o'
	partTarget     = 'T'

	partVersion = 'V'
	partCall    = 'C'
	partStatus  = 'S'
	partWhy     = 'W'
	partLog     = 'l'
	partCode    = 'c'
	partLowered = 'w'
	partAsked   = 'a'
	partMapped  = 'M'
)

var errAnswer = errors.New("worker: malformed answer")

// most is the size of the largest answer that is accepted.
const most = 1 << 30

// message is a message to the worker: 8 bytes for its size, and parts.
type message []byte

func newMessage() message { return make(message, 8, 4096) }

func (m *message) addField(letter byte, value []byte) {
	*m = binary.LittleEndian.AppendUint64(append(*m, letter), uint64(len(value)))
	*m = append(*m, value...)
}

func (m *message) addText(letter byte, value string) {
	*m = binary.LittleEndian.AppendUint64(append(*m, letter), uint64(len(value)))
	*m = append(*m, value...)
}

// send writes a message. The worker reads it as it comes.
func (m message) send(fd int) error {
	binary.LittleEndian.PutUint64(m, uint64(len(m)-8))
	for len(m) > 0 {
		// Not write: a worker that has gone must not raise SIGPIPE in the host.
		n, err := unix.SendmsgN(fd, m, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		m = m[n:]
	}
	return nil
}

// answer is a message that arrives in pieces.
type answer struct {
	data []byte
	size uint64 // of the parts; it comes in the first 8 bytes
}

// readFrom takes the bytes that are there, and reports whether the message is complete. An
// error means that the worker has gone, or that the message is malformed.
func (a *answer) readFrom(fd int) (whole bool, err error) {
	var buffer [64 << 10]byte
	n, _, err := unix.Recvfrom(fd, buffer[:], unix.MSG_DONTWAIT)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return false, nil
	case err != nil:
		return false, err
	case n == 0:
		return false, unix.EPIPE
	}
	a.data = append(a.data, buffer[:n]...)
	if len(a.data) < 8 {
		return false, nil
	}
	a.size = binary.LittleEndian.Uint64(a.data)
	if a.size > most {
		return false, errAnswer
	}
	return uint64(len(a.data)-8) >= a.size, nil
}

// Answer is a worker's answer for a program.
type Answer struct {
	// Call is the call that failed, "" if none did; Status and Why say how.
	Call   string
	Status int
	Why    string
	Log    string
	Code   []byte
	// Lowered are the names of the expressions, in their order.
	Lowered []string

	major, minor int
	asked        []string
	mapped       []string
}

func (a *answer) parseAnswer() (*Answer, error) {
	found := &Answer{}
	number := func(b []byte) int {
		if len(b) < 4 {
			return 0
		}
		return int(binary.LittleEndian.Uint32(b))
	}
	for b := a.data[8:]; len(b) > 0; {
		if len(b) < 9 || binary.LittleEndian.Uint64(b[1:]) > uint64(len(b)-9) {
			return nil, errAnswer
		}
		end := 9 + int(binary.LittleEndian.Uint64(b[1:]))
		value := b[9:end]
		switch b[0] {
		case partVersion:
			found.major = number(value)
			found.minor = number(value[min(4, len(value)):])
		case partCall:
			found.Call = string(value)
		case partStatus:
			found.Status = number(value)
		case partWhy:
			found.Why = string(value)
		case partLog:
			found.Log = string(value)
		case partCode:
			found.Code = value
		case partLowered:
			found.Lowered = append(found.Lowered, string(value))
		case partAsked:
			found.asked = append(found.asked, string(value))
		case partMapped:
			found.mapped = append(found.mapped, string(value))
		}
		b = b[end:]
	}
	return found, nil
}
