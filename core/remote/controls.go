//go:build !control

package remote

// What control builds of the tests go without (package control).
const (
	budgeted         = true // waiting in vain has a bound
	forgivesLate     = true // what this machine is late is not the remote's
	waitsForLiving   = true // waiting for who lives is not in vain
	goesOnAfterOne   = true // an entry that is damaged says nothing of the others
	closesAll        = true // a helper has none of its host's descriptors
	checksOther      = true // a socket is this user's or root's
	knowsItsSocket   = true // a descriptor that was kept is still the helper's
	keepsConnections = true // for the next lookup
	shortensPlace    = true // where a folder's path is too long for sockets they are in another one
	knowsNotStarted  = true // a helper that cannot be started is not waited for
)
