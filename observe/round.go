//go:build cgo

// A Run needs C.

package observe

import (
	"encoding/binary"
	"math"
)

// Done returns a descriptor that becomes readable, or is closed, when the command has ended.
// It can be polled together with the channel.
func (r *Run) Done() int { return r.done }

// Round returns what was seen of a command with a Channel, from its start to the last
// EndOfRound. The command must not have been given work since. It returns nil if the command
// is not observed. Out and Err have what was printed since the report before.
func (r *Run) Round() (*Report, error) {
	if r.parser == nil {
		r.parser = newParser()
	}
	data, err := readFrom(r.report, r.parsed, math.MaxInt)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	rep, err := r.parser.rounds(data)
	if err != nil {
		return nil, err
	}
	r.parsed += int64(len(data))
	if rep.Out, err = readFrom(r.out, r.printed[0], MaxOutput); err == nil {
		rep.Err, err = readFrom(r.err, r.printed[1], MaxOutput)
	}
	r.printed[0] += int64(len(rep.Out))
	r.printed[1] += int64(len(rep.Err))
	return rep, err
}

// Seen returns how many bytes of reports were read in all rounds.
func (r *Run) Seen() int64 { return r.parsed }

// parse reads the whole report of a run that has ended.
func (r *Run) parse(data []byte) (*Report, error) {
	if r.rounds {
		return newParser().rounds(data)
	}
	return Parse(data)
}

// rounds reads reports in a row. The last one has all that was seen.
func (p *parser) rounds(b []byte) (rep *Report, err error) {
	err = errReport
	for len(b) > 0 {
		n := firstReport(b)
		if rep, err = p.parse(b[:n]); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	return rep, err
}

// firstReport returns the length of the first of reports in a row.
func firstReport(b []byte) int {
	for at := 0; len(b)-at >= 5; {
		n := uint64(binary.LittleEndian.Uint32(b[at+1:]))
		if n > uint64(len(b)-at-5) {
			break
		}
		ended := b[at] == 'E'
		if at += 5 + int(n); ended {
			return at
		}
	}
	return len(b)
}
