//go:build !control

package engine

// What control builds of the tests go without (package control).
const (
	readsPages    = true // what stands beside a status is read, so that its connection serves on
	endsWaits     = true // a disk that does not answer keeps nobody
	boundsReplies = true // no length in an answer of Redis is believed that is above a bound
	sharesFolders = true // whoever may write a shared directory may write what others have made there
)
