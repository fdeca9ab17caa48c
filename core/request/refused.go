package request

import "strings"

// Refused says which part of a request cannot be keyed, and why.
type Refused struct {
	What string // a file, a place in one ("kernel.cu:12"), or an option
	Why  string // "is used in it, and the result shows the time"
}

// Refuse returns an error that is a [Refused].
func Refuse(what, why string) error { return &Refused{what, why} }

func (r *Refused) Error() string { return r.What + ": " + r.Why }

// Meanwhile ends the reason where something has changed between the time when it was
// looked at and the end of what depends on it.
const Meanwhile = "meanwhile"

// Moved reports whether the next attempt may fare better: something has changed while
// the result was made.
func (r *Refused) Moved() bool { return strings.HasSuffix(r.Why, Meanwhile) }
