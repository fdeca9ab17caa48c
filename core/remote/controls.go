//go:build !control

package remote

// What control builds of the tests go without (package control).
const (
	budgeted    = true // waiting in vain has a bound
	closesAll   = true // a helper has none of its host's descriptors
	checksOther = true // a socket is this user's or root's
)
