//go:build !control

package bundle

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	allowsLag     = true // nolag: of what was used since a time, a bundle has also what may have been
	checkMembers  = true // anymember: members are regular files with the names of entries, in ascending order
	checkBounds   = true // anylength: no more is read of a bundle than its bounds allow
	leadsToSets   = true // nosetways: a bundle has the sets that lead to those with lists of its results
	sparesDevices = true // overdevices: a bundle does not replace a device or a pipe
)
