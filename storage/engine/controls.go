//go:build !control

package engine

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	readsPages    = true // unreadpages: what stands beside a status is read, so that its connection serves on
	endsWaits     = true // waitsfordisks: a disk that does not answer keeps nobody
	boundsReplies = true // anyreply: no length in an answer of Redis is believed that is above a bound
	sharesFolders = true // ownfolders: whoever may write a shared directory may write what others have made there
)
