// Refused: the error for a result that cannot be kept, with the reason.

package request

import "strings"

// Refused says which part of a request cannot be part of a key, and why.
type Refused struct {
	What string // a file, a place in one ("kernel.cu:12"), or an option
	Why  string // "is used in it, and the result shows the time"
}

// Refuse returns an error that is a [Refused].
func Refuse(what, why string) error { return &Refused{what, why} }

func (r *Refused) Error() string { return r.What + ": " + r.Why }

// Meanwhile is the end of the reason if something changed while the result was made.
const Meanwhile = "during the run"

// Moved reports whether something has changed while the result was made, so that the
// next attempt may succeed.
func (r *Refused) Moved() bool { return strings.HasSuffix(r.Why, Meanwhile) }
