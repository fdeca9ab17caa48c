package observe

// Done returns a descriptor that can be read from, or is closed, when the command has
// ended: for a poll together with its channel.
func (r *Run) Done() int { return r.done }

// Round returns what was seen of a command with a Channel since it has started, up to
// the last EndOfRound. Nothing may have been asked of it since. nil: it is not observed.
// Out and Err of a report are what was printed since the one before.
func (r *Run) Round() (*Report, error) {
	if r.parser == nil {
		r.parser = newParser()
	}
	data, err := readFrom(r.report, r.parsed)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	rep, err := r.parser.parse(data)
	if err != nil {
		return nil, err
	}
	r.parsed += int64(len(data))
	if rep.Out, err = readFrom(r.out, r.printed[0]); err == nil {
		rep.Err, err = readFrom(r.err, r.printed[1])
	}
	r.printed[0] += int64(len(rep.Out))
	r.printed[1] += int64(len(rep.Err))
	return rep, err
}

// Seen is how many bytes the report of all rounds has.
func (r *Run) Seen() int64 { return r.parsed }
