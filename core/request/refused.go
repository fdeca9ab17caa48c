package request

// Refused says which part of a request cannot be keyed, and why.
type Refused struct {
	What string // a file, a place in one ("kernel.cu:12"), or an option
	Why  string // "is used in it, and the result shows the time"
}

// Refuse returns an error that is a [Refused].
func Refuse(what, why string) error { return &Refused{what, why} }

func (r *Refused) Error() string { return r.What + ": " + r.Why }
