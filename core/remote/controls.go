//go:build !control

package remote

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	budgeted         = true // nobudget: waiting in vain for remotes has a bound
	forgivesLate     = true // nolate: what this machine is late is not the remote's
	waitsForLiving   = true // allvain: waiting for a machine that lives is not in vain
	goesOnAfterOne   = true // onestops: an entry that is damaged says nothing of the others
	closesAll        = true // inherits: a helper has none of its host's descriptors
	checksOther      = true // anysocket: the socket of a helper is this user's or root's
	knowsItsSocket   = true // anydescriptor: a connection that was kept is used only if its descriptor still is the helper's
	keepsConnections = true // connectseach: a connection is kept for the next lookup
	shortensPlace    = true // longplaces: where a folder's path is too long for sockets they are in another one
	knowsNotStarted  = true // waitsforstart: a helper that cannot be started is not waited for
)
